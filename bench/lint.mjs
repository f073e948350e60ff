/**
 * Claims: linting a text, and linting what `JSON.parse` has returned, each cost at most 2.0 times the time of `JSON.parse` alone, with no
 * memory between documents, for each kind of {@link KINDS}. The rules are those of the command line: findings of the level info are off,
 * unless the kind says otherwise.
 *
 * Every document is different, its `auth:schemes` too. All sides run in turn over the same texts in the same process; the ratio is the
 * median of the rounds. Names given as arguments choose kinds: `node bench/lint.mjs items geometry`.
 */
import { pathToFileURL } from 'node:url'
import { levelTable } from '../dist/lint/config.js'
import { lint, lintText } from '../dist/lint/index.js'

const TARGET = 2

/** What is linted: `share` is the part of `items` that is measured, because the documents are larger; `findings` is how many one has. */
const KINDS = [
  { name: 'items', what: 'items with authentication', make: item, share: 1 },
  { name: 'infos', what: 'items with authentication, infos included', make: item, share: 1, infos: true },
  { name: 'assets', what: 'items with 128 assets', make: manyAssets, share: 1 / 8 },
  { name: 'geometry', what: 'items with 5,000 corners', make: longGeometry, share: 1 / 12 },
  { name: 'plain', what: 'items without authentication', make: withoutAuth, share: 1 },
  { name: 'finding', what: 'items with one finding', make: withFinding, share: 1, findings: 1 },
]

const ITEMS = 12_000
const BATCH = 500

/** What Items of a protected catalog of optical pictures declare. */
const EXTENSIONS = [
  'eo/v2.0.0',
  'raster/v2.0.0',
  'sat/v1.0.0',
  'projection/v2.0.0',
  'grid/v1.1.0',
  'view/v1.0.0',
  'file/v2.1.0',
  'processing/v1.2.0',
  'alternate-assets/v1.2.0',
  'authentication/v1.1.0',
  'product/v0.1.0',
  'storage/v2.0.0',
]

/** Arguments of `run` for the smallest measurement. */
export const smallest = [{ items: 2400, rounds: 3 }]

/** Measures and yields the ratios; `items` and `rounds` may be made smaller for a quick look. */
export async function* run({ items = ITEMS, rounds = 5, kinds = KINDS.map(({ name }) => name) } = {}) {
  for (const kind of KINDS.filter(({ name }) => kinds.includes(name))) yield* ratiosOf(kind, Math.ceil(items * kind.share), rounds)
}

function* ratiosOf({ name, what, make, infos = false, findings = 0 }, count, rounds) {
  const texts = Array.from({ length: count }, (_, index) => JSON.stringify(make(index)))
  const size = texts.reduce((sum, text) => sum + text.length, 0) / count
  const { preset, levelsFor } = levelTable([{ source: '', config: { infos }, patternOf: () => () => false }], {})
  const options = { preset, rules: levelsFor('') }
  const found = texts.slice(0, 50).flatMap((text) => lintText(text, options)).length
  if (found !== findings * Math.min(50, count)) throw new Error(`${name}: ${found} findings in the first texts`)
  const measured = []
  for (let round = -1; round < rounds; round++) {
    const times = measure(texts, options)
    if (round >= 0) measured.push(times)
  }
  for (const [side, how] of [
    ['value', 'JSON.parse and lint'],
    ['text', 'lintText'],
  ]) {
    const times = middle(measured, (round) => round[side] / round.parse)
    yield {
      name: `${what}: ${how} over JSON.parse`,
      ratio: times[side] / times.parse,
      target: TARGET,
      unit: 'times',
      better: 'lower',
      steady: true,
      characters: Math.round(size),
      details: `${count} of ${Math.round(size)} characters; JSON.parse ${micro(times.parse, count)}, ${how} ${micro(times[side], count)}`,
    }
  }
}

/** Batches in turn, so that all sides meet the same caches and collections. Processor time: neighbours make the clock run. */
function measure(texts, options) {
  const times = { parse: 0, text: 0, value: 0 }
  const sides = {
    parse: (text) => JSON.parse(text),
    text: (text) => lintText(text, options),
    value: (text) => lint(JSON.parse(text), options),
  }
  for (let from = 0; from < texts.length; from += BATCH) {
    const batch = texts.slice(from, from + BATCH)
    for (const name of ['parse', 'text', 'value']) {
      const start = process.cpuUsage()
      for (const text of batch) sides[name](text)
      const { user, system } = process.cpuUsage(start)
      times[name] += (user + system) / 1000
    }
  }
  return times
}

/** The round in the middle, by that ratio. */
function middle(measured, ratioOf) {
  return measured.toSorted((one, other) => ratioOf(one) - ratioOf(other))[measured.length >> 1]
}

function micro(milliseconds, items) {
  return `${((milliseconds * 1000) / items).toFixed(1)} µs`
}

/** An Item of 9 kB; those of one variant have the same schemes, as in a catalog. */
export function item(index, variant = index) {
  const bands = ['B02', 'B03', 'B04', 'B08', 'SCL', 'visual']
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: EXTENSIONS.map((extension) => `https://stac-extensions.github.io/${extension}/schema.json`),
    id: `scene-${index}`,
    collection: 'scenes',
    geometry: { type: 'Polygon', coordinates: [ring(index)] },
    bbox: [10, 50, 11, 51],
    properties: {
      datetime: '2026-01-01T10:00:00Z',
      title: `Scene ${index}`,
      platform: 'example-1',
      instruments: ['msi'],
      'eo:cloud_cover': index % 100,
      'proj:code': 'EPSG:32632',
      'view:sun_elevation': 31.5,
      'view:sun_azimuth': 161.2,
      'view:off_nadir': 2.7,
      'grid:code': 'MGRS-32TQM',
      'sat:relative_orbit': 1 + (index % 143),
      'sat:orbit_state': 'descending',
      'processing:facility': 'Example ground segment',
      'processing:software': { processor: '5.11', formatter: '2.3' },
      'product:type': 'L2A',
      'product:timeliness': 'PT24H',
      constellation: 'example',
      created: '2026-01-02T03:04:05Z',
      updated: '2026-01-02T03:04:05Z',
      description: 'Surface reflectance, corrected for the atmosphere, with a scene classification and quality indicators.',
      keywords: ['reflectance', 'optical', 'land', 'example'],
      providers: [{ name: 'Example Agency', roles: ['producer', 'licensor'], url: 'https://agency.example/' }],
      'processing:level': 'L2A',
      'auth:schemes': schemes(variant),
      'storage:schemes': { store: { type: 'custom-s3', platform: 'https://store.example', region: 'eu-1', requester_pays: false } },
    },
    links: ['self', 'parent', 'collection', 'root', 'license', 'thumbnail'].map((rel) => link(rel, index)),
    assets: Object.fromEntries(bands.map((band) => [band, asset(band, index)])),
  }
}

/** An Item of 72 kB. */
function manyAssets(index) {
  const whole = item(index)
  return { ...whole, assets: Object.fromEntries(Array.from({ length: 128 }, (_, band) => [`b${band}`, asset(`b${band}`, index)])) }
}

/** An Item of 105 kB, nearly all of it coordinates. */
function longGeometry(index) {
  const corners = Array.from({ length: 5000 }, (_, corner) => [10 + corner * 0.0001 + index * 1e-6, 50 + ((corner * 7) % 10) * 0.0954])
  return { ...item(index), geometry: { type: 'Polygon', coordinates: [corners] } }
}

/** An Item whose text has no field of the extension. */
function withoutAuth(index) {
  const whole = item(index)
  const { 'auth:schemes': _schemes, ...properties } = whole.properties
  return JSON.parse(
    JSON.stringify({ ...whole, properties, stac_extensions: whole.stac_extensions.filter((url) => !url.includes('authentication')) }),
    (name, value) => (name === 'auth:refs' ? undefined : value),
  )
}

/** An Item whose last asset refers to a scheme that it does not define. */
function withFinding(index) {
  const whole = item(index)
  return { ...whole, assets: { ...whole.assets, last: { ...asset('last', index), 'auth:refs': ['nowhere'] } } }
}

function schemes(index) {
  // A site of the catalog's files: another one would be a finding.
  const host = `https://identity${index}.data.example`
  return {
    oidc: { type: 'openIdConnect', openIdConnectUrl: `${host}/.well-known/openid-configuration` },
    key: { type: 'apiKey', name: 'x-api-key', in: 'header', description: 'Ask the help desk for a key.' },
    store: { type: 's3' },
    login: {
      type: 'oauth2',
      flows: { authorizationCode: { authorizationUrl: `${host}/authorize`, tokenUrl: `${host}/token`, scopes: { read: 'Read data' } } },
    },
    sign: {
      type: 'signedUrl',
      flows: {
        authorizationCode: {
          method: 'POST',
          authorizationApi: `https://sign.example/v1/${index}`,
          responseField: 'signed_url',
          parameters: {
            bucket: { in: 'body', required: true, schema: { type: 'string' } },
            key: { in: 'body', required: true, schema: { type: 'string' } },
          },
        },
      },
    },
  }
}

function asset(band, index) {
  const path = `scenes/2026/01/01/scene-${index}/${band}`
  return {
    href: `https://data.example/${path}.tif`,
    type: 'image/tiff; application=geotiff; profile=cloud-optimized',
    title: `Band ${band} of scene ${index}, surface reflectance`,
    roles: ['data', 'reflectance'],
    gsd: 10,
    data_type: 'uint16',
    nodata: 0,
    'raster:scale': 0.0001,
    'raster:offset': -0.1,
    'proj:shape': [10980, 10980],
    'proj:transform': [10, 0, 600000, 0, -10, 5700000],
    'file:size': 100000000 + index,
    'file:checksum': '1220d50110207b9a38c59c2ee58e495a8de8dda90aa1bb2cc3dd4ee5ff60718293',
    bands: [{ name: band, 'eo:common_name': 'red', 'eo:center_wavelength': 0.665 }],
    'auth:refs': ['oidc', 'login'],
    alternate: {
      s3: { href: `s3://scenes/${path}.tif`, 'alternate:name': 'S3', 'auth:refs': ['store'], 'storage:refs': ['store'] },
      ...(band === 'visual' && { signed: { href: `https://sign.example/${path}.tif`, 'alternate:name': 'Signed', 'auth:refs': ['sign'] } }),
    },
  }
}

function link(rel, index) {
  return {
    rel,
    href: `https://catalog.example/collections/scenes/items/scene-${index}/${rel}`,
    type: 'application/json',
    title: `The ${rel} of scene ${index}`,
    ...(rel !== 'license' && { 'auth:refs': ['key'] }),
  }
}

function ring(index) {
  return Array.from({ length: 24 }, (_, corner) => [10 + corner * 0.0512345 + index * 1e-6, 50 + ((corner * 7) % 10) * 0.0954321])
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const kinds = process.argv.slice(2)
  for await (const { name, ratio, target, unit, details } of run(kinds.length > 0 ? { kinds } : {})) {
    console.log(`${ratio <= target ? 'ok  ' : 'OVER'} ${name}: ${ratio.toFixed(2)} ${unit} (target ${target}); ${details}`)
    if (ratio > target) process.exitCode = 1
  }
}
