/**
 * A multipart form with one file (RFC 7578, RFC 2046 section 5.1), which is handed on piece by piece: the platform's `formData()` keeps
 * all of it in memory, 700 MB for a file of 200.
 */
import { CutOff } from '#src/lib/errors.ts'
import { refusal } from '#src/refusals/index.ts'

/** Room for boundaries, part headers and small fields beside the file. */
const FRAME_BYTES = 65_536
const MAX_HEADER_BYTES = 8192
const MAX_PARTS = 20
const MAX_TEXT_BYTES = 4096

const malformed = () => refusal('upload-not-valid')

function boundaryOf(contentType: string): string {
  const match = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s;",]{1,70}))/i.exec(
    contentType,
  )
  const boundary = match?.[1] ?? match?.[2]
  if (!boundary) throw refusal('upload-no-form')
  return boundary
}

/** The name of a part's field, and whether it is a file. */
function fieldOf(headers: string): { name: string; isFile: boolean } {
  const disposition = /^content-disposition:[ \t]*form-data[ \t]*;(.*)$/im.exec(headers)?.[1]
  const name = /(?:^|;)[ \t]*name=(?:"([^"]*)"|([^\s;"]+))/i.exec(disposition ?? '')
  if (!disposition || !name) throw malformed()
  return {
    name: name[1] ?? name[2] ?? '',
    isFile: /(?:^|;)[ \t]*filename\*?=/i.test(disposition),
  }
}

type Sink = (bytes: Uint8Array) => Promise<unknown>

/** Cuts a form into its parts; `open` says where the content of a part goes, null for nowhere. */
function createFormReader(boundary: string, open: (headers: string) => Sink | null) {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // The first delimiter has no line before it.
  let rest: Buffer = Buffer.from('\r\n')
  let state: 'preamble' | 'delimiter' | 'headers' | 'content' | 'end' = 'preamble'
  let sink: Sink | null = null
  let parts = 0

  const pass = async (length: number) => {
    const content = rest.subarray(0, length)
    rest = rest.subarray(length)
    if (state === 'content' && sink && content.length > 0) await sink(content)
  }
  /** Content up to the next delimiter, or what can't belong to one. */
  const readContent = async (): Promise<boolean> => {
    const at = rest.indexOf(delimiter)
    if (at < 0) {
      await pass(Math.max(0, rest.length - delimiter.length + 1))
      return false
    }
    await pass(at)
    rest = rest.subarray(delimiter.length)
    state = 'delimiter'
    return true
  }
  const readDelimiter = (): boolean => {
    if (rest.length < 2) return false
    const mark = rest.toString('latin1', 0, 2)
    if (mark === '--') state = 'end'
    else if (mark === '\r\n' && ++parts <= MAX_PARTS) state = 'headers'
    else throw malformed()
    // The line break stays: headers end with an empty line, also where there is none.
    if (state === 'end') rest = Buffer.alloc(0)
    return true
  }
  const readHeaders = (): boolean => {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) {
      if (rest.length > MAX_HEADER_BYTES) throw malformed()
      return false
    }
    if (end > MAX_HEADER_BYTES) throw malformed()
    sink = open(rest.toString('utf8', 0, end))
    // A delimiter may follow at once: an empty part.
    rest = rest.subarray(end + 2)
    state = 'content'
    contentBegins = true
    return true
  }
  /** The line break that ends the headers is no content, but may begin a delimiter. */
  let contentBegins = false
  const skipBreak = (): boolean => {
    if (rest.length < delimiter.length) return false
    contentBegins = false
    if (rest.indexOf(delimiter) !== 0) rest = rest.subarray(2)
    return true
  }
  const step = (): boolean | Promise<boolean> => {
    if (state === 'delimiter') return readDelimiter()
    if (state === 'headers') return readHeaders()
    if (state === 'end') return false
    return contentBegins ? skipBreak() : readContent()
  }
  return {
    async write(chunk: Uint8Array) {
      if (state === 'end') return
      rest =
        rest.length === 0
          ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
          : Buffer.concat([rest, chunk])
      while (await step());
    },
    isComplete: () => state === 'end',
  }
}

/** The body's bytes. Throws 400 where the client is gone before their end; what the reader throws passes. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) yield chunk
  } catch {
    throw new CutOff()
  }
}

/** What a form may hold; other fields are passed over. */
interface Fields<T extends string> {
  file: string
  /** Short texts beside it. */
  texts: readonly T[]
}

/** Takes the pieces of a short text. Throws 400 when it is too long. */
function textSink(chunks: Buffer[]): Sink {
  let size = 0
  return async (bytes) => {
    size += bytes.length
    if (size > MAX_TEXT_BYTES) throw malformed()
    chunks.push(Buffer.from(bytes))
  }
}

function decodeText(chunks: Buffer[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
  } catch {
    throw malformed()
  }
}

/**
 * Reads a request's form to its end, hands the content of its file to `write` and gives the texts that came with it, wherever they
 * stood. Throws 400 when the body is no form, has not exactly one such file, the file is larger than `maxBytes`, or a text comes
 * twice or is longer than 4096 bytes.
 */
export async function receiveForm<T extends string>(
  request: Request,
  fields: Fields<T>,
  maxBytes: number,
  write: Sink,
): Promise<Partial<Record<T, string>>> {
  const tooLarge = () =>
    refusal('upload-too-large', { megabytes: Math.floor(maxBytes / 1024 ** 2) })
  const boundary = boundaryOf(request.headers.get('content-type') ?? '')
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes + FRAME_BYTES) throw tooLarge()
  if (!request.body) throw malformed()
  let files = 0
  let size = 0
  const texts = new Map<T, Buffer[]>()
  const reader = createFormReader(boundary, (headers) => {
    const { name, isFile } = fieldOf(headers)
    const text = fields.texts.find((one) => one === name)
    if (text !== undefined && !isFile) {
      if (texts.has(text)) throw malformed()
      const chunks: Buffer[] = []
      texts.set(text, chunks)
      return textSink(chunks)
    }
    if (name !== fields.file || !isFile) return null
    if (++files > 1) throw refusal('upload-of-several-files')
    return (bytes) => {
      size += bytes.length
      if (size > maxBytes) throw tooLarge()
      return write(bytes)
    }
  })
  let received = 0
  for await (const chunk of chunksOf(request.body)) {
    received += chunk.length
    if (received > maxBytes + FRAME_BYTES) throw tooLarge()
    await reader.write(chunk)
  }
  if (!reader.isComplete()) throw new CutOff()
  if (files === 0) throw refusal('upload-without-file', { name: fields.file })
  const entries = [...texts].map(([name, chunks]) => [name, decodeText(chunks)])
  return Object.fromEntries(entries) as Partial<Record<T, string>>
}
