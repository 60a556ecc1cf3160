/** The parts of the cabinet's page (src/web/cabinet-page.ts), by their ids. */

interface Parts {
  account: HTMLElement
  again: HTMLElement
  ask: HTMLElement
  'ask-fault': HTMLElement
  'ask-form': HTMLFormElement
  'ask-link': HTMLInputElement
  buy: HTMLElement
  'buy-fault': HTMLElement
  'buy-form': HTMLFormElement
  'buy-title': HTMLElement
  cabinet: HTMLElement
  /** Only where there is something to change to, as all of its parts. */
  change: HTMLDialogElement
  'change-note': HTMLElement
  'change-text': HTMLElement
  'change-title': HTMLElement
  changes: HTMLElement
  choice: HTMLTemplateElement
  closed: HTMLElement
  connect: HTMLElement
  'connect-telegram': HTMLAnchorElement
  'device-list': HTMLElement
  'device-note': HTMLElement
  'device-row': HTMLTemplateElement
  devices: HTMLElement
  'devices-title': HTMLElement
  'devices-used': HTMLElement
  flags: HTMLTemplateElement
  /** Only where guests are sold to. */
  'guest-note': HTMLElement
  loading: HTMLElement
  'no-devices': HTMLElement
  'no-subscriptions': HTMLElement
  node: HTMLSelectElement
  'node-part': HTMLElement
  'open-link': HTMLAnchorElement
  owner: HTMLElement
  pay: HTMLButtonElement
  plans: HTMLElement
  providers: HTMLElement
  'providers-part': HTMLElement
  remove: HTMLDialogElement
  'remove-title': HTMLElement
  renews: HTMLSelectElement
  'renews-held': HTMLElement
  'renews-part': HTMLElement
  state: HTMLElement
  'state-text': HTMLElement
  'sub-link': HTMLElement
  'subscription-row': HTMLTemplateElement
  subscriptions: HTMLElement
  /** Only where there is a bot. */
  telegram: HTMLElement
}

type Id = keyof Parts
type IdOf<E> = { [I in Id]: Parts[I] extends E ? I : never }[Id]

export const byId = <I extends Id>(id: I): Parts[I] => document.getElementById(id) as Parts[I]

/** The same of a part that may be missing. */
export const find: <I extends Id>(id: I) => Parts[I] | null = byId

/** What is within an element that the page puts there. */
export const within = <E extends Element = HTMLElement>(element: ParentNode, selector: string): E =>
  element.querySelector(selector) as E

export const inputsOf = (id: Id): HTMLInputElement[] => [...byId(id).querySelectorAll('input')]

const SCREENS = ['ask', 'account', 'state', 'loading'] as const

/** The part of the page that counts now: the question, the account, a fault, or that it is loading. */
export function show(screen: (typeof SCREENS)[number]): void {
  for (const id of SCREENS) byId(id).hidden = id !== screen
}

/** A line about what was done; small print below it in the service's own words. An empty one goes away. */
export function note(id: Id, message: string, { good = false, detail = '' } = {}): void {
  const place = byId(id)
  const words = document.createElement('span')
  words.textContent = message
  if (detail) {
    const small = document.createElement('small')
    small.lang = 'en'
    small.textContent = detail
    words.append(small)
  }
  place.className = good ? 'note ok' : 'note bad'
  place.replaceChildren(words)
  place.hidden = message === ''
}

/** A copy of a template's element, with texts in its named places. */
export function made(
  template: IdOf<HTMLTemplateElement>,
  values: Record<string, string>,
): HTMLElement {
  const element = byId(template).content.firstElementChild?.cloneNode(true) as HTMLElement
  for (const [name, value] of Object.entries(values)) {
    within(element, `[data-${name}]`).textContent = value
  }
  return element
}
