/** The users of the seeded shop: everything about them follows from their number, so that other processes know it too. */
import { hash } from 'node:crypto'

/** Every user has as many subscriptions and as many devices. */
export const PER_USER = 3
export const NODES = ['de1', 'nl1', 'nl2', 'fi1', 'fi2', 'us1', 'us2', 'pl1', 'se1', 'fr1']
export const tokenOf = (user: number): string => hash('sha256', `token ${user}`, 'base64url')
export const hwidOf = (user: number, device: number): string =>
  hash('sha256', `hwid ${user} ${device}`, 'hex').slice(0, 16)
/** Telegram ids as they come: of all lengths, in no order. */
export const tgIdOf = (user: number): number => 10_000_000 + ((user * 7_368_787) % 7_999_999_993)
/** Payments that wait for their notice, and what provider B calls them. */
/** In no order, as those of a shop are. */
export const paymentIdOf = (payment: number): string => {
  const hex = hash('sha256', `payment ${payment}`, 'hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
export const externalIdOf = (payment: number): string => `gw-${paymentIdOf(payment)}`
