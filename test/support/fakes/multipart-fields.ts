/** Fields and files of a multipart body (RFC 7578), as a bot sends a photo. */

export interface Fields {
  fields: Record<string, string>
  files: Map<string, Uint8Array>
}

/** Reads leniently, as Telegram does: header names in any case, names with or without quotes. */
export function readMultipart(bytes: Buffer, contentType: string): Fields {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1] ?? ''
  const read: Fields = { fields: {}, files: new Map() }
  for (const part of bytes.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const cut = part.indexOf('\r\n\r\n')
    const head = part.slice(0, cut)
    const body = Buffer.from(part.slice(cut + 4, -2), 'latin1')
    const name = /[;\s]name="?([^";\r\n]+)"?/i.exec(head)?.[1] ?? ''
    if (/filename/i.test(head)) read.files.set(name, new Uint8Array(body))
    else read.fields[name] = body.toString()
  }
  return read
}
