/** Whether a text is a first and a last port: `20000-30000`. */
export function isPortRange(text: string): boolean {
  if (!/^[1-9]\d{0,4}-[1-9]\d{0,4}$/.test(text)) return false
  const [first, last] = text.split('-').map(Number) as [number, number]
  return first <= last && last <= 65_535
}
