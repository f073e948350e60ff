/** The files of the catalog that the page shows, and who may have which. */
import { parquetWriteBuffer } from 'hyparquet-writer'
import { geotiff } from '../../../test/harness/geotiff.ts'
import { encodePng } from '../../../test/harness/png.ts'
import { basicGuard, bearerGuard, keyGuard, sameText } from '../../../test/servers/guards.ts'
import type { ServedFile } from '../../../test/servers/protected-files.ts'
import { heights, picture, smaller } from './landscape.ts'
import type { SiteSecrets } from './secrets.ts'

export const KEY_HEADER = 'X-Archive-Key'
/** Where the scenes lie: west and north in degrees, and the size of a pixel. */
export const PLACES = {
  lake: { west: -3.6, north: 54.9, pixel: 0.002 },
  coast: { west: 12.1, north: 44.6, pixel: 0.002 },
  delta: { west: 29.0, north: 45.6, pixel: 0.002 },
} as const
export type Scene = keyof typeof PLACES

const SEEDS: Readonly<Record<Scene, number>> = { lake: 3, coast: 11, delta: 29 }
/** Cells of the climate model on each side, and its months. */
export const GRID = { size: 96, months: 12 } as const

/** Pictures by scene; they are not cheap to paint. */
export function paintScenes(): Readonly<Record<Scene, ReturnType<typeof picture>>> {
  return { lake: picture(SEEDS.lake), coast: picture(SEEDS.coast), delta: picture(SEEDS.delta) }
}

/** The files that a guard alone opens. */
export function guardedFiles(scenes: ReturnType<typeof paintScenes>, secrets: SiteSecrets): Readonly<Record<string, ServedFile>> {
  const byKey = keyGuard('header', KEY_HEADER, secrets.key)
  const bySite = bearerGuard((token) => sameText(token, secrets.siteToken))
  const tiff = (scene: Scene) => geotiff(scenes[scene], PLACES[scene])
  return {
    '/keys/coast.tif': { content: tiff('coast'), type: 'image/tiff', guard: byKey },
    '/keys/coast.png': { content: encodePng(smaller(scenes.coast, 2)), type: 'image/png', guard: byKey },
    '/pictures/delta.png': { content: encodePng(smaller(scenes.delta, 2)), type: 'image/png', guard: bySite },
    '/tables/fields.parquet': { content: fields(), guard: basicGuard(secrets.username, secrets.password) },
    ...Object.fromEntries(Object.entries(zarr()).map(([path, content]) => [`/keys/climate.zarr/${path}`, { content, guard: byKey }])),
  }
}

/** The files for who has logged in. */
export function memberFiles(scenes: ReturnType<typeof paintScenes>): Readonly<Record<string, ServedFile>> {
  return {
    '/members/lake.tif': { content: geotiff(scenes.lake, PLACES.lake), type: 'image/tiff' },
    '/members/lake.png': { content: encodePng(smaller(scenes.lake, 2)), type: 'image/png' },
    '/members/report.txt': { content: 'Scene of the lake, 14 June 2026. No clouds.\n', type: 'text/plain' },
  }
}

/** Rows of fields as they would come from a land register. */
function fields(): Uint8Array {
  const crops = ['barley', 'rape', 'wheat', 'grass', 'maize']
  const rows = Array.from({ length: 240 }, (_, at) => at)
  const columnData = [
    { name: 'field', data: rows.map((at) => `F-${1000 + at * 7}`) },
    { name: 'crop', data: rows.map((at) => crops[(at * 3) % crops.length] ?? '') },
    { name: 'hectares', data: rows.map((at) => Math.round(((at * 37) % 180) + 12) / 10), type: 'DOUBLE' as const },
    { name: 'sown', data: rows.map((at) => `2026-0${1 + (at % 5)}-1${at % 9}`) },
  ]
  return new Uint8Array(parquetWriteBuffer({ columnData }))
}

/** A Zarr array (version 3) of temperatures: one chunk for each month. */
function zarr(): Readonly<Record<string, string | Uint8Array>> {
  const { size, months } = GRID
  const ground = heights(71, size)
  const description = {
    zarr_format: 3,
    node_type: 'array',
    shape: [months, size, size],
    dimension_names: ['month', 'lat', 'lon'],
    data_type: 'float32',
    chunk_grid: { name: 'regular', configuration: { chunk_shape: [1, size, size] } },
    chunk_key_encoding: { name: 'default', configuration: { separator: '/' } },
    fill_value: 0,
    codecs: [{ name: 'bytes', configuration: { endian: 'little' } }],
    attributes: { long_name: 'Air temperature', units: 'degC' },
  }
  const chunks = Array.from({ length: months }, (_, month): [string, Uint8Array] => {
    const season = 9 - 11 * Math.cos((month / months) * 2 * Math.PI)
    const values = ground.map((height) => Math.fround(season + (0.5 - height) * 40))
    return [`c/${month}/0/0`, new Uint8Array(values.buffer)]
  })
  return { 'zarr.json': JSON.stringify(description), ...Object.fromEntries(chunks) }
}
