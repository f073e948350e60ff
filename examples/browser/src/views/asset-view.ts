/** One file: what it is, what it needs, and what can be done with it. */
import { isAuthError, type Target } from 'stac-auth'
import { type Access, accessTo, addressOf } from '../access.ts'
import { announce } from '../announce.ts'
import { download } from '../data/download.ts'
import { button, element, fill, refill } from '../dom.ts'
import { plain, textIn } from '../fields.ts'
import type { SiteSettings } from '../site.ts'
import type { Wallet } from '../wallet.ts'
import { accessBadge } from './access-badge.ts'
import { openAccessDialog } from './access-dialog.ts'
import { openLoginDialog } from './login-dialog.ts'
import type { MapView } from './map-view.ts'
import { refusalOf, refusalView } from './refusal.ts'

export interface AssetView {
  readonly root: HTMLElement
  refresh(): Promise<void>
  close(): void
}

/** What can be done with files of a type, and the words for it. */
type Show = readonly [label: string, show: () => Promise<HTMLElement>]

const URL_LENGTH = 500

/** A card for the asset. */
export function assetView(target: Target, wallet: Wallet, site: SiteSettings, map: MapView | undefined): AssetView {
  const { object, pointer } = target
  const key = plain(pointer.split('/').at(-1) ?? '')
  const title = textIn(object, 'title') ?? key
  const state = element('div', { class: 'state' })
  const result = element('div', { class: 'result' })
  const address = addressOf(target)

  const attempt = (work: () => Promise<HTMLElement>) => async () => {
    fill(result)
    announce(`Reading ${title} …`)
    try {
      fill(result, await work())
      announce(`${title} is here`)
    } catch (error) {
      fill(result, refusalView(refusalOf(error)), ...wayOut(error))
      announce(`${title} was refused`)
      // A login that ended is asked for again.
      if (isAuthError(error)) await refresh()
    }
  }

  /** A key that turned out wrong makes room for another one. */
  function wayOut(error: unknown): readonly HTMLElement[] {
    if (!isAuthError(error) || error.code !== 'AUTH_REJECTED' || error.credential === undefined) return []
    const id = error.credential
    const remove = async () => {
      await wallet.auth.credentials.remove(id)
      await refresh()
      announce(`Credential “${id}” is gone`)
      fill(result)
      ;(state.querySelector('button') ?? heading).focus()
    }
    return [button(`Remove “${id}”`, remove, { class: 'quiet' })]
  }

  const save = async () => element('p', { class: 'note' }, `Saved, ${(await download(wallet.auth, target)).toLocaleString()} bytes.`)

  function actions({ state, forms, credential }: Access): readonly HTMLElement[] {
    if (state === 'needs') return [button('Give a credential', () => openAccessDialog(title, forms, wallet, site.clients))]
    if (state === 'login') return [button('Log in', () => openLoginDialog(credential ?? '', undefined, wallet))]
    if (state === 'refused') {
      return forms.length > 0
        ? [button('Use another credential', () => openAccessDialog(title, forms, wallet, site.clients), { class: 'quiet' })]
        : []
    }
    if (state === 'site') return []
    const shows = showsFor(target, wallet, map).map(([label, show]) => button(label, attempt(show)))
    // A Zarr store is a folder.
    if (isZarr(target)) return shows
    return [...shows, button('Download', attempt(save), { class: shows.length > 0 ? 'second' : '' })]
  }

  async function refresh(): Promise<void> {
    const access = await accessTo(target, wallet, site)
    const parts = [...access.refusals.map(refusalView), element('p', { class: 'actions' }, ...actions(access))]
    refill(state, heading, accessBadge(access), ...parts)
  }

  const heading = element('h3', { tabindex: '-1' }, title, ' ', title !== key && element('code', {}, key))
  const about = [textIn(object, 'type'), address?.startsWith('javascript:') ? undefined : address && plain(address, URL_LENGTH)].filter(
    (text) => text !== undefined,
  )
  return {
    root: element('article', { class: 'asset' }, heading, ...about.map((text) => element('p', { class: 'about' }, text)), state, result),
    refresh,
    close: () => fill(result),
  }
}

/** By media type. What reads the formats is loaded when it is wanted. */
function showsFor(target: Target, wallet: Wallet, map: MapView | undefined): readonly Show[] {
  const type = textIn(target.object, 'type') ?? ''
  if (/^image\/tiff\b/.test(type) && map) {
    return [['Draw on the map', async () => (await import('./raster-view.ts')).rasterView(wallet.auth, target, map)]]
  }
  if (isZarr(target)) return [['Read the array', async () => (await import('./grid-view.ts')).gridView(wallet.auth, target)]]
  if (/parquet/.test(type)) return [['Read the table', async () => (await import('./table-view.ts')).tableView(wallet.auth, target)]]
  return []
}

function isZarr({ object }: Target): boolean {
  return /zarr/.test(textIn(object, 'type') ?? '')
}
