/** Links of a document to other places of the web. */
import { targetsOf } from 'stac-auth'
import { addressOf } from '../access.ts'
import { element, outwardLink } from '../dom.ts'
import { textIn } from '../fields.ts'
import type { OpenDocument } from '../reader.ts'

const OUTWARD = ['about', 'alternate', 'cite-as', 'describedby', 'derived_from', 'documentation', 'license', 'service-doc', 'via']

/** A list, or undefined where there is nothing. Links that need a credential are no links for a browser, and left out. */
export function linksView({ document, url }: OpenDocument): HTMLElement | undefined {
  const links = [...targetsOf(document, { url })].filter(
    ({ kind, object, refs, scope }) => kind === 'link' && scope.at === '' && refs.length === 0 && OUTWARD.includes(String(object.rel)),
  )
  if (links.length === 0) return undefined
  const entries = links.map((target) => {
    const rel = String(target.object.rel)
    return element('li', {}, outwardLink(addressOf(target) ?? target.href, textIn(target.object, 'title') ?? rel), ` (${rel})`)
  })
  return element(
    'section',
    { 'aria-labelledby': 'links' },
    element('h2', { id: 'links' }, 'Elsewhere'),
    element('ul', { class: 'links' }, ...entries),
  )
}
