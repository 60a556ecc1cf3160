/** Whether a payment provider knows credentials. */

/** `unreachable`: no connection, no answer in time, or none that the system itself would give. */
export type CredentialCheck = 'accepted' | 'rejected' | 'unreachable'

/** Payment provider A. Calls never throw. */
export interface ProviderA {
  /** Asks the provider whether it knows the pair; at most 10 s. */
  check(shopId: string, secretKey: string): Promise<CredentialCheck>
}

/** Crypto Pay. Calls never throw. */
export interface Cryptobot {
  /** Asks whose token it is; at most 10 s. */
  check(token: string): Promise<CredentialCheck>
}
