/** The schemas that the peer of the benchmark is given: were they to accept anything, it would be measured doing nothing. */
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../../src/stac/document.ts'

type Document = JsonObject & { readonly stac_extensions: readonly string[] }

const { item } = await load<{ item(index: number): Document }>('lint.mjs')
const { schemas } = await load<{ schemas: readonly { readonly $id: string }[] }>('schemas/index.mjs')

const ajv = new Ajv({
  allErrors: true,
  strict: false,
  logger: false,
  formats: { iri: isAddress, 'iri-reference': (text: string) => text !== '' },
})
formats.default(ajv)
for (const schema of schemas) ajv.addSchema(schema)

const CORE = 'https://schemas.stacspec.org/v1.1.0/item-spec/json-schema/item.json'

async function load<T>(file: string): Promise<T> {
  return (await import(new URL(`../../bench/${file}`, import.meta.url).href)) as T
}

function isAddress(text: string): boolean {
  return URL.canParse(text)
}

/** The Item with one value in another place, and what the schema at that address says of it. */
function accepts(address: string, path: readonly string[], value: unknown): boolean {
  const document = structuredClone(item(7))
  let holder: unknown = document
  for (const name of path.slice(0, -1)) holder = (holder as JsonObject)[name]
  if (!isObject(holder) && !Array.isArray(holder)) throw new Error(`the Item has no ${path.join('/')}`)
  Object.assign(holder, { [path.at(-1) ?? '']: value })
  return ajv.validate(address, document)
}

const declared = (name: string) => item(7).stac_extensions.find((address) => address.includes(`/${name}/`)) ?? ''

describe('an Item of the benchmarks', () => {
  it.each([CORE, ...item(7).stac_extensions])('satisfies %s', (address) => {
    expect(ajv.validate(address, item(7))).toBe(true)
  })
})

describe('a schema refuses what the extension refuses', () => {
  it.each<[schema: string, path: string, value: unknown]>([
    [CORE, 'stac_version', '1.0.0'],
    [CORE, 'geometry/type', 'Point'],
    [CORE, 'geometry/coordinates', [[[0, 0]]]],
    [CORE, 'bbox', [0, 0, 1]],
    [CORE, 'stac_extensions', ['eo']],
    [CORE, 'collection', undefined],
    [CORE, 'links/0/href', ''],
    [CORE, 'assets/B02/href', undefined],
    [CORE, 'assets/B02/gsd', 'fine'],
    [CORE, 'assets/B02/bands/0/name', ''],
    [CORE, 'assets/B02/data_type', 'byte'],
    [CORE, 'properties/datetime', null],
    [CORE, 'properties/created', '2026-01-02T03:04:05+02:00'],
    [CORE, 'properties/start_datetime', '2026-01-02T03:04:05Z'],
    [CORE, 'properties/providers/0/roles', ['owner']],
    [declared('authentication'), 'properties/auth:schemes/key/in', 'body'],
    [declared('authentication'), 'links/0/auth:refs', 'key'],
    [declared('eo'), 'assets/B02/bands/0/eo:common_name', 'crimson'],
    [declared('eo'), 'properties/eo:cloud_cover', 101],
    [declared('projection'), 'assets/B02/proj:transform', [1, 2]],
    [declared('raster'), 'assets/B02/raster:scale', '0.1'],
    [declared('view'), 'properties/view:sun_azimuth', 361],
    [declared('sat'), 'properties/sat:orbit_state', 'up'],
    [declared('grid'), 'properties/grid:code', 'somewhere'],
    [declared('file'), 'assets/B02/file:checksum', 'XYZ'],
    [declared('processing'), 'properties/processing:software', { ours: 1 }],
    [declared('product'), 'properties/product:timeliness', 'soon'],
    [declared('storage'), 'properties/storage:schemes/store/platform', undefined],
    [declared('alternate-assets'), 'assets/alternate', { s3: {} }],
  ])('%s: %s', (address, path, value) => {
    expect(accepts(address, path.split('/'), value)).toBe(false)
  })

  it.each(item(7).stac_extensions)('%s: that it is not declared', (address) => {
    expect(
      accepts(
        address,
        ['stac_extensions'],
        item(7).stac_extensions.filter((other) => other !== address),
      ),
    ).toBe(false)
  })
})
