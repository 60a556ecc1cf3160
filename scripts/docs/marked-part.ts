/** The parts of docs that scripts write: what stands between `<!-- NAME -->` and `<!-- end of NAME -->`. */

/** The text of a file of docs with other words in a part. Throws, naming the file, where it has no such part. */
export function withPart(file: string, text: string, name: string, words: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${file} lacks ${begin} … ${end}`)
  return `${text.slice(0, from + begin.length)}\n\n${words}\n\n${text.slice(to)}`
}
