/** The frame of the element: heading, summary, slots and groups of cards. */
import { element } from './dom.ts'
import type { Strings } from './strings.ts'
import { styles } from './styles.ts'

/** The nodes that stay while the element changes. */
export interface Panel {
  readonly panel: HTMLElement
  readonly heading: HTMLElement
  readonly summary: HTMLElement
  readonly problem: HTMLElement
  readonly groups: HTMLElement
  readonly said: HTMLElement
}

/** Creates the panel in the shadow root. Nodes of the page are shown in its slots, before and after the cards. */
export function panelIn(root: ShadowRoot): Panel {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles)
  root.adoptedStyleSheets = [sheet]
  const heading = element('div', { role: 'heading', 'aria-level': '2', part: 'heading', tabindex: '-1' })
  const summary = element('p', { role: 'status', part: 'summary' })
  const problem = element('div', { class: 'problem' })
  const groups = element('div', { class: 'groups' })
  const said = element('p', { role: 'status', class: 'said' })
  const children = [heading, summary, problem, element('slot', { name: 'before' }), groups, element('slot', { name: 'after' }), said]
  const panel = element('div', { part: 'panel', role: 'group', dir: 'auto' }, ...children)
  root.replaceChildren(panel)
  return { panel, heading, summary, problem, groups, said }
}

/** Returns the list of a group; several providers, of which any one is enough, get a caption. */
export function groupNode(items: readonly HTMLElement[], strings: Strings): HTMLElement {
  const list = element('ul', { part: 'providers', role: 'list' }, ...items)
  if (items.length < 2) return list
  const caption = element('p', { part: 'any-of' }, strings.anyOf)
  return element('div', { part: 'choice', role: 'group', 'aria-label': strings.anyOf }, caption, list)
}
