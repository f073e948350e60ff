import { type Coords, type DoneCallback, type TileEvent, TileLayer, type TileLayerOptions } from 'leaflet'
import type { Auth } from 'stac-auth'
import { type Given, type Requests, requestsFor } from 'stac-auth/adapters/requests'

/** Tiles that are requested as `tiles` are: a URL, a target, or an Asset or Link. The event `tileerror` has the error. */
export class AuthorizedTiles extends TileLayer {
  readonly #requests: Requests
  readonly #loading = new WeakMap<HTMLElement, AbortController>()

  constructor(auth: Auth, tiles: Given | undefined, url: string, options?: TileLayerOptions) {
    super(url, options)
    this.#requests = requestsFor(auth, tiles)
    const end = ({ tile }: TileEvent) => this.#loading.get(tile)?.abort()
    this.on('tileunload', end)
    this.on('tileabort', end)
  }

  override createTile(coords: Coords, done: DoneCallback): HTMLElement {
    const tile = document.createElement('img')
    tile.alt = ''
    this.#load(tile, this.getTileUrl(coords)).then(
      () => done(undefined, tile),
      (error) => done(error, tile),
    )
    return tile
  }

  async #load(tile: HTMLImageElement, url: string): Promise<void> {
    const loading = new AbortController()
    this.#loading.set(tile, loading)
    const response = await this.#requests.fetch(url, { signal: loading.signal })
    if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`)
    const picture = URL.createObjectURL(await response.blob())
    tile.src = picture
    await tile.decode().finally(() => URL.revokeObjectURL(picture))
  }
}
