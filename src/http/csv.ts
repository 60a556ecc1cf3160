/** Tables as CSV (RFC 4180), for people who open them in a spreadsheet. */
import { nextTurn } from '#src/lib/event-loop.ts'

export type CsvValue = string | number | null

/**
 * Where a spreadsheet would begin a formula (OWASP, "CSV Injection"), behind spaces and quotes, in full-width letters too. Not at the
 * beginning alone: Excel takes `;` for the separator where the comma is the decimal mark, and then a cell of ours, quoted or not, is
 * several of its own, as Google takes a tab.
 */
const BEGINS_FORMULA = /[=+\-@＝＋－＠]/
const STANDS_BEFORE = /[\s"]/
const BEGINS_CELL = /[;\t\r\n]/
const IS_BLANK = /[\t\r]/

/** With an apostrophe wherever a formula would begin. Read once from the end: a look ahead at each place would be too many. */
function guarded(text: string): string {
  if (!BEGINS_FORMULA.test(text) && !IS_BLANK.test(text)) return text
  const pieces: string[] = []
  let isFormula = false
  for (let at = text.length - 1; at >= 0; at--) {
    const char = text.charAt(at)
    isFormula = BEGINS_FORMULA.test(char) || (isFormula && STANDS_BEFORE.test(char))
    const isFirst = at === 0 || BEGINS_CELL.test(text.charAt(at - 1))
    pieces.push(isFirst && (isFormula || IS_BLANK.test(char)) ? `'${char}` : char)
  }
  return pieces.reverse().join('')
}

/** A cell: text that a spreadsheet would run gets an apostrophe before it, which makes it text. */
export function csvCell(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = guarded(value)
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const csvLines = (rows: CsvValue[][]): string =>
  rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')

/**
 * A download that is written as it is read, one batch of rows at a time. What goes wrong with the first batch is thrown; later, when
 * the status is out, `failed` gets it and the download breaks off.
 */
export async function csvResponse(
  name: string,
  columns: string[],
  batches: AsyncGenerator<CsvValue[][], void, void>,
  failed: (error: unknown) => void,
): Promise<Response> {
  const encoder = new TextEncoder()
  let next = await batches.next()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // The mark by which Excel knows UTF-8.
      controller.enqueue(encoder.encode(`\ufeff${csvLines([columns])}`))
    },
    async pull(controller) {
      if (next.done) return controller.close()
      controller.enqueue(encoder.encode(csvLines(next.value)))
      // The database answers without a pause: other requests get their turn here.
      await nextTurn()
      try {
        next = await batches.next()
      } catch (error) {
        failed(error)
        // The adapter shows the client what an error of a stream says.
        controller.error(new Error('internal error'))
      }
    },
    async cancel() {
      await batches.return()
    },
  })
  return new Response(body, {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
    },
  })
}
