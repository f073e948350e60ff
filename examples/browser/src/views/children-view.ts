/** Where a document leads: what is below and beside it. */
import { kindOf, type StacDocument, type Target, targetsOf } from 'stac-auth'
import { addressOf } from '../access.ts'
import { button, element } from '../dom.ts'
import { documentsIn, plain, textIn, titleOf } from '../fields.ts'
import { type Icon, icon } from '../icons.ts'
import type { OpenDocument, Reader } from '../reader.ts'
import { routeTo } from '../route.ts'

const BELOW: Readonly<Record<string, Icon>> = {
  child: 'folder',
  data: 'folder',
  item: 'file',
  items: 'file',
  prev: 'folder',
  next: 'folder',
}
const NAMES: Readonly<Record<string, string>> = {
  data: 'All collections',
  items: 'Items',
  prev: 'Previous page',
  next: 'Next page',
}
const PAGE = 60

/** A list, or undefined where there is nothing. */
export function childrenView({ document, url }: OpenDocument, reader: Reader): HTMLElement | undefined {
  const links = [...targetsOf(document, { url })].filter(isBelow)
  const entries = [...insideOf(document, url, reader), ...links.flatMap((target) => linkView(target, reader))]
  if (entries.length === 0) return undefined
  const list = element('ul', { class: 'children' }, ...entries.slice(0, PAGE))
  const rest = entries.slice(PAGE)
  const more = button(`Show ${rest.length} more`, () => {
    list.append(...rest)
    more.remove()
    rest[0]?.querySelector('a')?.focus()
  })
  return element('section', { 'aria-labelledby': 'children' }, element('h2', { id: 'children' }, 'Contents'), list, rest.length > 0 && more)
}

/** The way back: links to what is above, nearest last. */
export function pathView({ document, url }: OpenDocument, reader: Reader): HTMLElement {
  const links = [...targetsOf(document, { url })].filter(({ kind, scope }) => kind === 'link' && scope.at === '')
  const above = ['root', 'parent'].flatMap((rel) => links.find(({ object }) => object.rel === rel) ?? [])
  const seen = new Set([url])
  const steps = above.flatMap((target) => {
    const address = addressOf(target)
    if (address === undefined || seen.has(address)) return []
    seen.add(address)
    return [element('li', {}, anchorTo(address, textIn(target.object, 'title') ?? String(target.object.rel), target, reader))]
  })
  const here = element('li', { 'aria-current': 'page' }, titleOf(document))
  return element('nav', { 'aria-label': 'Path' }, element('ol', { class: 'path' }, ...steps, here))
}

function isBelow({ kind, object, scope }: Target): boolean {
  const { rel, method } = object
  const isPage = rel === 'next' || rel === 'prev'
  return (
    kind === 'link' &&
    scope.at === '' &&
    typeof rel === 'string' &&
    Object.hasOwn(BELOW, rel) &&
    !(isPage && method !== undefined && method !== 'GET')
  )
}

function linkView(target: Target, reader: Reader): readonly HTMLElement[] {
  const address = addressOf(target)
  if (address === undefined || !address.startsWith('http')) return []
  const rel = String(target.object.rel)
  const title = textIn(target.object, 'title') ?? NAMES[rel] ?? lastPart(address)
  return [element('li', {}, icon(BELOW[rel] ?? 'file'), anchorTo(address, title, target, reader))]
}

/** An entry for each document that a page of an API has in it; a link as far as it has a URL of its own. */
export function* insideOf(document: StacDocument, url: string, reader: Reader): Generator<HTMLElement> {
  for (const part of documentsIn(document)) yield entryFor(part, url, reader)
}

function entryFor(part: StacDocument, url: string, reader: Reader): HTMLElement {
  const self = [...targetsOf(part, { url })].find((target) => target.object.rel === 'self')
  const address = self && addressOf(self)
  const name = titleOf(part)
  const label = self && address?.startsWith('http') ? anchorTo(address, name, self, reader) : element('span', {}, name)
  return element('li', {}, icon(kindOf(part) === 'item' ? 'file' : 'folder'), label)
}

function anchorTo(address: string, title: string, target: Target, reader: Reader): HTMLElement {
  reader.follow(address, target)
  return element('a', { href: routeTo(address) }, title)
}

function lastPart(address: string): string {
  const { pathname, host } = new URL(address)
  const part = pathname.split('/').filter(Boolean).at(-1) ?? host
  try {
    return plain(decodeURIComponent(part)) || part
  } catch {
    // Not every percent sign of a stranger begins a byte.
    return part
  }
}
