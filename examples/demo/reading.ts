/** Reads the catalog through the library, as a user does who was given one URL. */
import { type Auth, type StacDocument, type Target, targetsOf } from 'stac-auth'
import type { Holding } from './holdings.ts'

/** A document, its text and where it came from. */
export interface Page {
  readonly url: string
  readonly text: string
  readonly document: StacDocument
}

/** A protected asset or link of the catalog. */
export interface Protected {
  /** `id/key` of an asset, `id/rel` of a link. */
  readonly label: string
  readonly page: Page
  readonly target: Target
  readonly holding: Holding
}

/** The root and everything below it. */
export async function readCatalog(root: string, auth: Auth): Promise<readonly Page[]> {
  const pages: Page[] = []
  const waiting = [root]
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    const text = await (await auth.fetch(url)).text()
    const page = { url, text, document: JSON.parse(text) as StacDocument }
    pages.push(page)
    waiting.push(...addressesBelow(page))
  }
  return pages
}

/** The targets of the pages that ask for authentication. */
export function protectedIn(pages: readonly Page[], holdings: readonly Holding[]): readonly Protected[] {
  return pages.flatMap((page) =>
    [...targetsOf(page.document, { url: page.url })].flatMap((target) => {
      const holding = holdings.find(({ href }) => href === target.href)
      return holding && target.refs.length ? [{ label: labelOf(page, target), page, target, holding }] : []
    }),
  )
}

/** The target as it would be if `href` and schemes of its document said something else. */
export function altered({ page: { url, text }, target: { pointer } }: Protected, from: string, to: string): Target | undefined {
  const document = JSON.parse(text.replaceAll(JSON.stringify(from), JSON.stringify(to))) as StacDocument
  return [...targetsOf(document, { url })].find((target) => target.pointer === pointer)
}

function addressesBelow({ document, url }: Page): string[] {
  return [...targetsOf(document, { url })].flatMap(({ kind, object: { rel }, href }) =>
    kind === 'link' && (rel === 'child' || rel === 'item') ? [new URL(href, url).href] : [],
  )
}

function labelOf({ document }: Page, { kind, object, pointer }: Target): string {
  return `${document.id}/${kind === 'link' ? object.rel : pointer.split('/').at(-1)}`
}
