/** What runs in the page: maps of MapLibre and Leaflet and a tile of OpenLayers, all with the examples of the adapters. */
import { Map as LeafletMap } from 'leaflet'
import { config, type StyleSpecification, setWorkerUrl } from 'maplibre-gl'
import { AuthorizedTiles } from '../../examples/adapters/leaflet.ts'
import { mapOf } from '../../examples/adapters/maplibre.ts'
import { tileSource } from '../../examples/adapters/openlayers.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { assetOf } from '../../src/stac/target.ts'
import { asset, item, scheme } from '../harness/documents.ts'

setWorkerUrl('/maplibre-gl-worker.mjs')

/** An engine with that key for the archive, and a target there. */
function user(archive: string, key: string) {
  const auth = createAuth({
    credentials: [{ id: 'k', type: 'apiKey', in: 'header', name: 'x-archive-key', value: key, sendTo: `${archive}/` }],
  })
  return { auth, target: assetOf(item({ k: scheme.key('x-archive-key') }, { data: asset(`${archive}/`) }), 'data') }
}

/** Draws a map with tiles of two hosts and, by way of its worker, points: the codes of what failed. Ends when all came, or so much failed. */
async function drawMap(archive: string, stranger: string, key: string, most = Number.POSITIVE_INFINITY): Promise<readonly unknown[]> {
  const { auth, target } = user(archive, key)
  const tiles = (origin: string, path: string) => ({ type: 'raster' as const, tiles: [`${origin}/${path}/{z}/{x}/{y}.png`], tileSize: 256 })
  const style: StyleSpecification = {
    version: 8,
    sources: {
      ours: tiles(archive, 'tiles'),
      moved: tiles(archive, 'moved'),
      theirs: tiles(stranger, 'tiles'),
      points: { type: 'geojson', data: `${archive}/a.geojson` },
    },
    layers: [
      ...['ours', 'moved', 'theirs'].map((source) => ({ id: source, type: 'raster', source }) as const),
      { id: 'points', type: 'circle', source: 'points' },
    ],
  }
  const map = mapOf(auth, target, { container: 'map', style })
  const failures: unknown[] = []
  await new Promise<void>((resolve) => {
    map.on('error', ({ error }) => {
      if (failures.push((error as { code?: string }).code ?? error.message) >= most) resolve()
    })
    map.once('idle', () => resolve())
  })
  const protocols = () => Object.keys(config.REGISTERED_PROTOCOLS).length
  const before = protocols()
  map.remove()
  // A page draws many maps, and each protocol keeps an engine.
  if (before !== 1 || protocols() > 0) throw new Error(`${before} protocols, and ${protocols()} after the map was removed`)
  return failures
}

/** Loads one tile with OpenLayers: its width, or `error`. */
async function loadTile(archive: string, path: string, key: string): Promise<unknown> {
  const { auth, target } = user(archive, key)
  const source = tileSource(auth, target, `${archive}/${path}/{z}/{x}/{y}.png`)
  const projection = source.getProjection()
  const tile = projection && source.getTile(0, 0, 0, 1, projection)
  if (!tile) return 'no tile'
  return new Promise((resolve) => {
    tile.addEventListener('change', () => {
      const picture = tile as unknown as { getState(): number; getImage(): HTMLImageElement }
      if (picture.getState() === 2) resolve(picture.getImage().width)
      if (picture.getState() === 3) resolve('error')
    })
    tile.load()
  })
}

/** Draws a map of Leaflet with the tiles of that URL: how many came, and the codes of what failed. */
async function drawLeaflet(archive: string, url: string, key: string): Promise<readonly unknown[]> {
  const { auth, target } = user(archive, key)
  const layer = new AuthorizedTiles(auth, target, `${url}/{z}/{x}/{y}.png`)
  const failures = new Set<unknown>()
  let widths = 0
  layer.on('tileerror', ({ error }) => failures.add((error as { code?: string }).code ?? String(error)))
  layer.on('tileload', ({ tile }) => {
    widths += (tile as HTMLImageElement).naturalWidth
  })
  const all = new Promise<void>((resolve) => layer.on('load', () => resolve()))
  const map = new LeafletMap('map', { center: [0, 0], zoom: 1 })
  layer.addTo(map)
  await all
  map.remove()
  return [widths / 256, ...failures]
}

Object.assign(globalThis, { drawMap, loadTile, drawLeaflet })
