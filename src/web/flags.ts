/** Flags at the beginning of labels: Windows has no pictures for those of Unicode, so pages draw them. */
import { html, type Markup } from './markup.ts'

/** Colours from top to bottom (`=`), from left to right (`|`), or a cross on a field with a border of its own (`+`). */
const FLAGS: Record<string, string> = {
  AM: '=d90012 0033a0 f2a800',
  AT: '=ed2939 fff ed2939',
  BE: '|000 fdda24 ef3340',
  BG: '=fff 00966e d62612',
  DE: '=1a1a1a d00 ffce00',
  DK: '+c8102e fff fff',
  EE: '=0072ce 1a1a1a fff',
  FI: '+fff 003580 003580',
  FR: '|002654 fff ce1126',
  HU: '=ce2939 fff 477050',
  ID: '=ce1126 fff',
  IE: '|169b62 fff ff883e',
  IT: '|009246 fff ce2b37',
  LT: '=fdb913 006a44 c1272d',
  LU: '=ed2939 fff 00a1de',
  LV: '=9e3039 9e3039 fff 9e3039 9e3039',
  NL: '=ae1c28 fff 21468b',
  NO: '+ba0c2f fff 00205b',
  PL: '=fff dc143c',
  RO: '|002b7f fcd116 ce1126',
  RU: '=fff 0039a6 d52b1e',
  SE: '+006aa7 fecc00 fecc00',
  UA: '=0057b7 ffd700',
  YE: '=ce1126 fff 000',
}

const WIDTH = 24
const HEIGHT = 17
/** Regional indicator symbols (Unicode, chapter 22.10): two of them name a country. */
const FIRST_INDICATOR = 0x1f1e6

export interface Flagged {
  /** ISO 3166-1 alpha-2. */
  country: string | null
  text: string
}

/** A label without the flag at its beginning, and the flag's country. A label that is a flag alone keeps the country's letters. */
export function splitFlag(label: string): Flagged {
  const match = /^\s*([\u{1f1e6}-\u{1f1ff}])([\u{1f1e6}-\u{1f1ff}])\s*/u.exec(label)
  if (!match) return { country: null, text: label }
  const country = [match[1], match[2]]
    .map((letter) => String.fromCharCode(65 + (letter?.codePointAt(0) ?? 0) - FIRST_INDICATOR))
    .join('')
  return { country, text: label.slice(match[0].length) || country }
}

const rect = (x: number, y: number, width: number, height: number, colour: string) =>
  html`<path fill="#${colour}" d="M${x} ${y}h${width}v${height}h-${width}z"/>`

function cross([field, border, inner]: string[]): Markup[] {
  return [
    rect(0, 0, WIDTH, HEIGHT, field ?? ''),
    rect(7, 0, 4, HEIGHT, border ?? ''),
    rect(0, 6.5, WIDTH, 4, border ?? ''),
    rect(8, 0, 2, HEIGHT, inner ?? ''),
    rect(0, 7.5, WIDTH, 2, inner ?? ''),
  ]
}

function stripes(colours: string[], upright: boolean): Markup[] {
  const size = (upright ? WIDTH : HEIGHT) / colours.length
  return colours.map((colour, at) => {
    const from = Number((at * size).toFixed(2))
    const long = Number(size.toFixed(2))
    return upright ? rect(from, 0, long, HEIGHT, colour) : rect(0, from, WIDTH, long, colour)
  })
}

function draw(colours: string): Markup {
  const list = colours.slice(1).split(' ')
  const shapes = colours[0] === '+' ? cross(list) : stripes(list, colours[0] === '|')
  return html`<svg class="flag" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true">${shapes}</svg>`
}

/** Every flag that is drawn, by its country, for a script to copy. */
export const flagSheet: Markup = html`<template id="flags">${Object.entries(FLAGS).map(
  ([country, colours]) => html`<span data-country="${country}">${draw(colours)}</span>`,
)}</template>`

/** A country's flag, or its letters where the flag is not drawn; nothing reads it out. */
function flag(country: string): Markup {
  const drawn = Object.hasOwn(FLAGS, country) ? FLAGS[country] : undefined
  return drawn === undefined
    ? html`<span class="flag" aria-hidden="true">${country}</span>`
    : draw(drawn)
}

/** A node's label as pages show it. */
export function nodeLabel(label: string): Markup {
  const { country, text } = splitFlag(label)
  return country === null ? html`<bdi>${text}</bdi>` : html`${flag(country)} <bdi>${text}</bdi>`
}
