/** Addresses of the Bot API (core.telegram.org/bots/api#making-requests). They hold the token: never log one. */

/** The token as a part of a path: the colon stays, as the Bot API writes it. */
const tokenPath = (token: string) => encodeURIComponent(token).replaceAll('%3A', ':')

/** The address of a method; `apiUrl` ends without a slash. */
export const botApiUrl = (apiUrl: string, token: string, method: string): string =>
  `${apiUrl}/bot${tokenPath(token)}/${method}`
