/** Tables as CSV (RFC 4180), for people who open them in a spreadsheet. */

export type CsvValue = string | number | null

/** What a spreadsheet would take for a formula at the beginning of a cell (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r]/

/** A cell: text that a spreadsheet would run gets a quote before it. */
export function csvCell(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
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
      await new Promise((resolve) => setImmediate(resolve))
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
