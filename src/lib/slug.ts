/** Codes made of labels. */

/** Cyrillic letters without marks and their Latin ones; what has none here goes. */
const LATIN = new Map(
  'аa бb вv гg дd еe жzh зz иi кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ыy эe юyu яya іi єye ъ ь'
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.slice(1)]),
)

/** `a-z0-9-` of a label, at most so many characters, Cyrillic in Latin letters; empty where nothing is left. */
export function slugOf(label: string, length: number): string {
  const plain = label.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const latin = plain.replace(/\p{Script=Cyrillic}/gu, (letter) => LATIN.get(letter) ?? letter)
  const slug = latin.replace(/[^a-z0-9]+/g, '-').replace(/^-+/, '')
  return slug.slice(0, length).replace(/-+$/, '')
}
