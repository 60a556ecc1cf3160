/** Whether a text is `HOST:PORT`: a name or an IP address, IPv6 in brackets, as REALITY's target is written. */
export function isTarget(text: string): boolean {
  const [, port] =
    /^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,252}|\[[0-9a-fA-F:.]{2,45}\]):([1-9][0-9]{0,4})$/.exec(text) ??
    []
  return port !== undefined && Number(port) <= 65_535
}
