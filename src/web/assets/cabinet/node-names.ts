/** Labels of nodes: a flag of Unicode is two letters that name a country, and Windows has no pictures for them. */
import { byId } from './parts.ts'

const FLAG = /^\s*([\u{1f1e6}-\u{1f1ff}])([\u{1f1e6}-\u{1f1ff}])\s*/u
const letters = (flag: RegExpExecArray) =>
  flag
    .slice(1, 3)
    .map((letter) => String.fromCharCode((letter.codePointAt(0) as number) - 0x1f1a5))
    .join('')

/** A node's label without its flag. */
export function plain(label: string): string {
  const flag = FLAG.exec(label)
  return flag ? label.slice(flag[0].length) || letters(flag) : label
}

/** The flag before a node's label as the page draws it, else its letters; nothing where there is none. */
export function signOf(label: string): (Node | string)[] {
  const flag = FLAG.exec(label)
  if (!flag || plain(label) === letters(flag)) return []
  const drawn = byId('flags').content.querySelector(`[data-country=${letters(flag)}] > svg`)
  if (drawn) return [drawn.cloneNode(true), ' ']
  const sign = document.createElement('span')
  sign.className = 'flag'
  sign.ariaHidden = 'true'
  sign.textContent = letters(flag)
  return [sign, ' ']
}
