/** Nodes of the element. Text of documents is inserted as text, in elements that isolate its direction. */

export type Child = Node | string | undefined | false

type Attributes = Readonly<Record<string, string | boolean | undefined>>

/** Returns an element with attributes and children; `true` sets an attribute without a value, `false` and `undefined` set none. */
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

/** Returns a button that ignores clicks while `act` runs, and keeps the focus meanwhile. */
export function button(label: string, act: () => unknown, attributes: Attributes = {}): HTMLButtonElement {
  const rank = attributes.class === 'second' ? 'secondary' : 'primary'
  const made = element('button', { type: 'button', part: `button button-${rank}`, ...attributes }, label)
  made.addEventListener('click', async () => {
    if (made.ariaDisabled === 'true') return
    made.ariaDisabled = 'true'
    try {
      await act()
    } finally {
      made.ariaDisabled = null
    }
  })
  return made
}

/** Returns a row of buttons. */
export function actions(...buttons: readonly Child[]): HTMLElement {
  return element('div', { part: 'actions', class: 'actions' }, ...buttons)
}

/** Returns the parts of a text, with each `{name}` replaced by its node. */
export function sentence(text: string, nodes: Readonly<Record<string, Node>>): readonly Child[] {
  return text.split(/(\{\w+\})/).map((part) => nodes[part.slice(1, -1)] ?? part)
}

/** Returns text of a document or a person, isolated from the text around it. */
export function isolated(text: string): HTMLElement {
  return element('bdi', {}, text)
}

/** Returns the URL or URL pattern with its host in bold. A long path is cut off, the host never. */
export function address(text: string): HTMLElement {
  const [, start = '', host = '', rest = ''] = /^([a-z0-9]+:\/\/)([^/]*)(.*)$/is.exec(text) ?? ['', '', text, '']
  const path = rest.length > MAX_PATH ? `${rest.slice(0, MAX_PATH)}…` : rest
  return element('code', { part: 'address', dir: 'ltr' }, start, element('strong', {}, host), path)
}

const MAX_PATH = 120

const SHAPES = {
  warning: 'M12 3.5 22 20.5H2zM12 10v5M12 17.5v.5',
  ready: 'M4.5 12.5 10 18 19.5 7',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
} as const

const SVG = 'http://www.w3.org/2000/svg'

/** Returns a drawing that screen readers skip. */
export function icon(name: keyof typeof SHAPES): SVGSVGElement {
  const drawing = document.createElementNS(SVG, 'svg')
  for (const [attribute, value] of Object.entries({ viewBox: '0 0 24 24', 'aria-hidden': 'true', class: 'icon', part: 'icon' })) {
    drawing.setAttribute(attribute, value)
  }
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', SHAPES[name])
  drawing.append(path)
  return drawing
}
