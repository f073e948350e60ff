/** The open document: what it is, what is in it, where it lies. */
import { kindOf, targetsOf } from 'stac-auth'
import { element } from '../dom.ts'
import { DESCRIPTION_LENGTH, memberOf, textIn, titleOf } from '../fields.ts'
import { footprintsOf } from '../footprints.ts'
import type { OpenDocument, Reader } from '../reader.ts'
import { searchLinkOf } from '../search.ts'
import type { SiteSettings } from '../site.ts'
import type { Wallet } from '../wallet.ts'
import { accessViewOf } from './access-view.ts'
import { assetView } from './asset-view.ts'
import { childrenView, pathView } from './children-view.ts'
import { factsView } from './facts.ts'
import { linksView } from './links-view.ts'
import { lintView } from './lint-view.ts'
import { createMapView } from './map-view.ts'
import { previewView } from './preview-view.ts'
import { searchView } from './search-view.ts'

export interface DocumentView {
  readonly root: HTMLElement
  /** Looks again at what can be read: the wallet has changed. */
  refresh(): Promise<void>
  /** Ends what goes on in it. */
  close(): void
}

const KINDS = { item: 'Item', collection: 'Collection', catalog: 'Catalog', wrapper: 'Page of an API', unknown: 'Document' } as const

/** Files that are looked at in one go. */
const BATCH = 20

const descriptionIn = (object: unknown) => textIn(object, 'description', DESCRIPTION_LENGTH)

/** Shows it. */
export function createDocumentView(open: OpenDocument, reader: Reader, wallet: Wallet, site: SiteSettings): DocumentView {
  const { document, url, parents } = open
  const kind = kindOf(document)
  const targets = [...targetsOf(document, { url, parents })].filter((target) => target.kind === 'asset' && target.scope.at === '')
  const footprints = footprintsOf(document)
  const link = searchLinkOf(open)
  const map = footprints.length > 0 || link ? createMapView(footprints) : undefined
  const access = accessViewOf(open, wallet, site)
  const assets = targets.map((target) => assetView(target, wallet, site, map, access))
  const search = link && map && searchView(link, { open, reader, wallet, site, map, needs: access })
  const preview = previewView(targets, url, wallet, site)
  const description = descriptionIn(document) ?? descriptionIn(memberOf(document, 'properties'))
  const listed =
    assets.length > 0 &&
    element('section', { 'aria-labelledby': 'assets' }, element('h2', { id: 'assets' }, 'Files'), ...assets.map(({ root }) => root))
  const aside = element('div', { class: 'aside' }, map?.root, preview?.root, lintView(open))
  const main = element(
    'div',
    { class: 'document' },
    pathView(open, reader),
    element('p', { class: 'kind' }, KINDS[kind]),
    element('h1', { tabindex: '-1' }, titleOf(document)),
    description !== undefined && element('p', { class: 'lead' }, description),
    factsView(document, url),
    search?.root,
    childrenView(open, reader),
    access.root,
    listed,
    linksView(open),
  )
  let round = 0
  const refresh = async () => {
    const own = ++round
    await Promise.all([preview?.refresh(), search?.refresh()])
    for (const [index, asset] of assets.entries()) {
      // A list of a thousand files leaves time for the person in front of it.
      if (index % BATCH === BATCH - 1) await new Promise((resolve) => setTimeout(resolve))
      if (own !== round) return
      await asset.refresh()
    }
  }
  void refresh()
  return {
    root: element('div', { class: 'columns' }, main, aside),
    refresh,
    close: () => {
      round++
      for (const part of [...assets, preview, search, map]) part?.close()
    },
  }
}
