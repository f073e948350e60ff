import type { Access } from '../access.ts'
import { element } from '../dom.ts'
import { type Icon, icon } from '../icons.ts'
import { typeWords } from '../words.ts'

const BADGES: Readonly<Record<Access['state'], readonly [Icon, string]>> = {
  open: ['open', 'Open'],
  ready: ['check', 'Ready'],
  site: ['check', 'By this site'],
  login: ['lock', 'Log in'],
  needs: ['lock', 'Protected'],
  refused: ['warning', 'Refused'],
}

/** State and types of schemes at a glance, and one sentence. */
export function accessBadge({ state, words, forms }: Access): HTMLElement {
  const [drawing, label] = BADGES[state]
  return element(
    'p',
    { class: 'access' },
    element('span', { class: `badge ${state}` }, icon(drawing), label),
    ...forms.map((form) => element('span', { class: 'badge type' }, typeWords(form))),
    element('span', { class: 'words' }, words),
  )
}
