/** One file: what it is, what it needs, and what can be done with it. */
import { isAuthError, type Target } from 'stac-auth'
import { type Access, accessTo } from '../access.ts'
import { announce } from '../announce.ts'
import { download } from '../data/download.ts'
import { button, element, fill, refill } from '../dom.ts'
import { memberOf, plain, textIn } from '../fields.ts'
import type { SiteSettings } from '../site.ts'
import type { Wallet } from '../wallet.ts'
import { accessLine, requestDetails } from './access-line.ts'
import type { AccessView } from './access-view.ts'
import type { MapView } from './map-view.ts'
import { failureView } from './refusal.ts'

export interface AssetView {
  readonly root: HTMLElement
  refresh(): Promise<void>
  close(): void
}

/** What can be done with files of a type, and the words for it. */
type Show = readonly [label: string, show: () => Promise<HTMLElement>]

/** A card for the asset. */
export function assetView(target: Target, wallet: Wallet, site: SiteSettings, map: MapView | undefined, needs: AccessView): AssetView {
  const { object, pointer } = target
  const key = plain(pointer.split('/').at(-1) ?? '')
  const title = textIn(object, 'title') ?? key
  const state = element('div', { class: 'state' })
  const request = element('div')
  const result = element('div', { class: 'result' })
  let sendTo: readonly string[] = []
  let before: Access['state'] | undefined

  const attempt = (work: () => Promise<HTMLElement>) => async () => {
    fill(result)
    announce(`Reading ${title} …`)
    try {
      fill(result, await work())
      announce(`${title} is here`)
    } catch (error) {
      fill(result, await failureView(error), ...wayOut(error))
      announce(`${title} was refused`)
      needs.report(error)
      // A login that ended is asked for again.
      if (isAuthError(error)) await refresh()
    }
  }

  /** A key that turned out wrong makes room for another one. */
  function wayOut(error: unknown): readonly HTMLElement[] {
    if (!isAuthError(error) || error.code !== 'AUTH_REJECTED' || error.credential === undefined) return []
    return [button('Change the credential', () => needs.goTo(sendTo), { class: 'quiet' })]
  }

  const save = async () => element('p', { class: 'note' }, `Saved, ${(await download(wallet.auth, target)).toLocaleString()} bytes.`)

  function actions({ state: shownState }: Access): readonly HTMLElement[] {
    const labels = { missing: 'Give a credential', login: 'Log in', widen: 'Decide', refused: undefined, site: undefined }
    if (shownState === 'open' || shownState === 'ready') {
      const shows = showsFor(target, wallet, map, heading).map(([caption, show]) => button(caption, attempt(show)))
      // A Zarr store is a folder.
      if (isZarr(target)) return shows
      return [...shows, button('Download', attempt(save), { class: shows.length > 0 ? 'second' : '' })]
    }
    const label = labels[shownState]
    return label === undefined ? [] : [button(label, () => needs.goTo(sendTo))]
  }

  async function refresh(): Promise<void> {
    const access = await accessTo(target, wallet, site)
    sendTo = access.ways.flatMap((way) => way.sendTo)
    // What was said of another credential is over.
    if (before === 'ready' && access.state !== 'ready' && access.state !== 'login') fill(result)
    if (before === 'login' && access.state === 'ready') result.querySelector('.refusal')?.remove()
    before = access.state
    refill(state, heading, accessLine(access), element('p', { class: 'actions' }, ...actions(access)))
    const isOpen = request.querySelector('details')?.open ?? false
    const details = requestDetails(target, access)
    details.open = isOpen
    fill(request, details)
  }

  const heading = element('h3', { tabindex: '-1' }, title, ' ', title !== key && element('code', {}, key))
  const about = aboutOf(target)
  return {
    root: element(
      'article',
      { class: 'asset' },
      element('div', { class: 'head' }, heading, about !== '' && element('p', { class: 'about' }, about)),
      state,
      result,
      request,
    ),
    refresh,
    close: () => fill(result),
  }
}

const FORMATS: readonly (readonly [type: RegExp, name: string])[] = [
  [/^image\/tiff.*cloud-optimized/, 'Cloud-optimized GeoTIFF'],
  [/^image\/tiff.*geotiff/, 'GeoTIFF'],
  [/^image\/tiff/, 'TIFF'],
  [/^image\/(?:png|jpeg|webp|gif|avif)/, 'Picture'],
  [/zarr/, 'Zarr array'],
  [/parquet/, 'Parquet table'],
  [/geo\+json/, 'GeoJSON'],
  [/json/, 'JSON'],
  [/^text\/html/, 'Web page'],
  [/^text\/plain/, 'Text'],
  [/^application\/pdf/, 'PDF'],
  [/netcdf/, 'NetCDF'],
  [/xml/, 'XML'],
  [/zip/, 'ZIP archive'],
]

/** Format and size of the file, as far as the catalog says them. */
function aboutOf({ object }: Target): string {
  const type = textIn(object, 'type')
  const format = type && (FORMATS.find(([pattern]) => pattern.test(type))?.[1] ?? type)
  const size = memberOf(object, 'file:size')
  const words = typeof size === 'number' && size >= 0 ? sizeWords(size) : undefined
  return [format, words].filter((word) => word !== undefined).join(', ')
}

function sizeWords(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)))
  return new Intl.NumberFormat('en', { style: 'unit', unit: units[step] ?? 'byte', maximumSignificantDigits: 3 }).format(
    bytes / 1000 ** step,
  )
}

/** By media type. What reads the formats is loaded when it is wanted. */
function showsFor(target: Target, wallet: Wallet, map: MapView | undefined, back: HTMLElement): readonly Show[] {
  const type = textIn(target.object, 'type') ?? ''
  if (/^image\/tiff\b/.test(type) && map) {
    const draw = async () => {
      const view = await (await import('./raster-view.ts')).rasterView(wallet.auth, target, map)
      map.reveal(back)
      return view
    }
    return [['Draw on the map', draw]]
  }
  if (isZarr(target)) return [['Read the array', async () => (await import('./grid-view.ts')).gridView(wallet.auth, target)]]
  if (/parquet/.test(type)) return [['Read the table', async () => (await import('./table-view.ts')).tableView(wallet.auth, target)]]
  return []
}

function isZarr({ object }: Target): boolean {
  return /zarr/.test(textIn(object, 'type') ?? '')
}
