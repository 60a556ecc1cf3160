/** What strangers say of their device. */

const MAX_TEXT = 256

/** Device strings come from strangers: cut, and without control or direction characters. */
export function cleanDeviceText(text: string | null | undefined): string | null {
  if (!text) return null
  const clean = text
    .slice(0, MAX_TEXT)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim()
  return clean === '' ? null : clean
}
