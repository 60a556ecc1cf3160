/** Links to subscriptions. */

interface Place {
  publicScheme: string
  domains: { sub: string }
}

/** The address of a user's list and page; without a token, what every such address begins with. */
export const subLink = ({ publicScheme, domains }: Place, token = ''): string =>
  `${publicScheme}://${domains.sub}/sub/${token}`
