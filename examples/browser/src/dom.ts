/** Elements. Text of strangers gets in as text only. */

type Child = Node | string | undefined | false
type Attributes = Readonly<Record<string, string | boolean | undefined>>

/** An element with attributes and children; `true` is an attribute without value, `false` and `undefined` are none. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(attribute, value === true ? '' : value)
  }
  made.append(...children.filter((child) => child !== undefined && child !== false))
  return made
}

/** A button that does something; while that goes on it does nothing else, and keeps the focus. */
export function button(label: string, act: () => unknown, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label)
  made.addEventListener('click', async () => {
    if (made.ariaBusy === 'true') return
    made.ariaBusy = made.ariaDisabled = 'true'
    try {
      await act()
    } finally {
      made.ariaBusy = made.ariaDisabled = null
    }
  })
  return made
}

/** A link to another site, or plain text where the URL of a catalog is none of the web. */
export function outwardLink(address: string, label: string = address): HTMLElement {
  const isWeb = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
  return isWeb ? element('a', { href: address, rel: 'noreferrer noopener', target: '_blank' }, label) : element('span', {}, label)
}

/** Puts something in the place of all that was there. */
export function fill(place: Element, ...children: readonly Child[]): void {
  place.replaceChildren(...children.filter((child) => child !== undefined && child !== false))
}

/** The same for a place that may have the focus: its first button has it then, or the other element where there is none. */
export function refill(place: Element, other: HTMLElement, ...children: readonly Child[]): void {
  const hadFocus = place.contains(document.activeElement)
  fill(place, ...children)
  if (hadFocus) (place.querySelector('button') ?? other).focus()
}

/** How to scroll: people who asked for less motion are taken there at once. */
export function pace(): ScrollBehavior {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth'
}

/** The element of that id, which the page is known to have. */
export function byId<Kind extends Element>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new Error(`the page has no #${id}`)
}
