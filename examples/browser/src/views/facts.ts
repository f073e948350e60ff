import type { StacDocument } from 'stac-auth'
import { element } from '../dom.ts'
import { boxIn, listIn, memberOf, textIn } from '../fields.ts'

/** A few facts about a document, as far as it says them. */
export function factsView(document: StacDocument, url: string): HTMLElement {
  const interval = listIn(memberOf(memberOf(document, 'extent'), 'temporal'), 'interval')[0]
  const [from, to] = Array.isArray(interval) ? interval : []
  const span = from || to ? `${momentOf(from) ?? '…'} to ${momentOf(to) ?? 'now'}` : undefined
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Identifier', textIn(document, 'id')],
    ['Time', momentOf(memberOf(memberOf(document, 'properties'), 'datetime')) ?? span],
    ['Extent', extentOf(document)],
    ['License', textIn(document, 'license') ?? textIn(memberOf(document, 'properties'), 'license')],
    ['Version', textIn(document, 'stac_version')],
    ['URL', url],
  ]
  return element(
    'dl',
    { class: 'facts' },
    ...facts.flatMap(([name, value]) =>
      value === undefined ? [] : [element('div', {}, element('dt', {}, name), element('dd', {}, value))],
    ),
  )
}

/** As maps say it: `12.1° E to 13.12° E, 43.58° N to 44.6° N`. */
function extentOf(document: StacDocument): string | undefined {
  const box = boxIn(document)
  if (!box) return undefined
  const [west, south, east, north] = box
  const span = (from: number, to: number, positive: string, negative: string) =>
    `${degreesOf(from, positive, negative)} to ${degreesOf(to, positive, negative)}`.replaceAll(' ', '\u00a0')
  return `${span(west, east, 'E', 'W')}, ${span(south, north, 'N', 'S')}`
}

function degreesOf(degrees: number, positive: string, negative: string): string {
  const rounded = Math.round(degrees * 100) / 100
  return `${Math.abs(rounded)}°${rounded === 0 ? '' : ` ${rounded > 0 ? positive : negative}`}`
}

function momentOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const date = new Date(value)
  return Number.isNaN(date.valueOf()) ? undefined : new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' }).format(date)
}
