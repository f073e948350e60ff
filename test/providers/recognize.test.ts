import { describe, expect, it } from 'vitest'
import { createRecognizer } from '../../src/providers/recognize.ts'
import { providers } from '../../src/providers/registry.ts'
import { asset, catalog, item, scheme } from '../harness/documents.ts'

const recognizer = createRecognizer()
const PC = 'https://planetarycomputer.microsoft.com/api/stac/v1/collections/landsat-c2-l2/items/LC08'
const BLOB = 'https://landsateuwest.blob.core.windows.net/landsat-c2/level-2/a.TIF'
const CDSE = 'https://identity.dataspace.copernicus.eu/auth/realms/CDSE'

const idsOf = (url: string, context?: Parameters<typeof recognizer.file>[1]) => recognizer.file(url, context).map(({ id }) => id)

/** Where each file of a document is recognized, by pointer. */
function filesOf(document: object, url?: string): Record<string, string[]> {
  const { files } = recognizer.document(document, url === undefined ? {} : { url })
  return Object.fromEntries(files.map(({ target, providers: found }) => [target.pointer, found.map(({ id }) => id)]))
}

describe('a file', () => {
  it.each([
    ['https://download.dataspace.copernicus.eu/odata/v1/Products(1)/$value', 'copernicus'],
    ['https://eodata.dataspace.copernicus.eu/eodata/Sentinel-2/a.jp2', 'copernicus'],
    ['https://eodata.cloudferro.com/eodata/Sentinel-2/a.jp2', 'creodias'],
    ['https://openeo.dataspace.copernicus.eu/openeo/1.2/jobs/j/results/a.tif', 'openeo-cdse'],
    ['https://data.lpdaac.earthdatacloud.nasa.gov/lp-prod-protected/a.tif', 'earthdata'],
    ['https://datapool.asf.alaska.edu/GRD/a.zip', 'earthdata'],
    ['s3://usgs-landsat/collection02/a.TIF', 'landsat'],
    ['https://usgs-landsat.s3.us-west-2.amazonaws.com/collection02/a.TIF', 'landsat'],
    ['https://usgs-landsat.s3.amazonaws.com/collection02/a.TIF', 'landsat'],
    ['https://s3.us-west-2.amazonaws.com/usgs-landsat/collection02/a.TIF', 'landsat'],
    ['s3://sentinel-s2-l1c/tiles/a.jp2', 'earth-search'],
    ['https://api.eumetsat.int/data/download/1.0.0/a', 'eumetsat'],
    ['https://tiles.planet.com/basemaps/1/1/1.png', 'planet'],
  ])('%s is of %s', (url, id) => {
    expect(idsOf(url)).toEqual([id])
  })

  it.each([
    'https://download.dataspace.copernicus.eu.evil.example/odata/v1/a',
    'https://evil-download.dataspace.copernicus.eu/a',
    'https://download.dataspace.copernicus.eu:8443/a',
    'http://download.dataspace.copernicus.eu/a',
    'https://download.dataspace.copernicus.eu@evil.example/a',
    'https://download.dataspace.copernicus.eu./a',
    'https://dоwnload.dataspace.copernicus.eu/a',
    'https://download.dataspace.copernicus.eu%2eevil.example/a',
    'https://evil.example/?u=https://download.dataspace.copernicus.eu/',
    'https://api.eumetsat.int/token',
    'https://api.eumetsat.int/data/../token',
    'https://api.eumetsat.int/data/..%2ftoken',
    'https://asf.alaska.edu/a',
    'https://usgs-landsat.s3.us-west-2.amazonaws.com.evil.example/a',
    'https://usgs-landsat.s3.evil.example/a',
    'https://s3.us-west-2.amazonaws.com/usgs-landsat-evil/a',
    's3://usgs-landsat-evil/a',
    'https://eodata.dataspace.copernicus.eu/other/a',
    'https://evil.blob.core.windows.net/landsat-c2/a',
    BLOB,
    'not a URL',
    '',
  ])('%j is of no provider', (url) => {
    expect(idsOf(url)).toEqual([])
  })

  it('a bucket that several have is of all of them, until its service or its catalog is known', () => {
    expect(idsOf('s3://eodata/a')).toEqual(['copernicus', 'creodias'])
    expect(idsOf('s3://eodata/a', { endpoints: ['https://eodata.cloudferro.com/'] })).toEqual(['creodias'])
    expect(idsOf('s3://eodata/a', { endpoints: ['https://evil.example/'] })).toEqual([])
    expect(idsOf('s3://eodata/a', { catalogs: ['https://stac.creodias.eu/v1'] })).toEqual(['creodias', 'copernicus'])
    expect(idsOf('s3://usgs-landsat/a', { endpoints: ['https://s3.us-west-2.amazonaws.com'] })).toEqual(['landsat'])
    expect(idsOf('s3://usgs-landsat/a', { endpoints: ['https://minio.example'] })).toEqual([])
  })

  it('an account of the Planetary Computer is recognized in documents of its catalog only', () => {
    expect(idsOf(BLOB, { catalogs: [PC] })).toEqual(['planetary-computer'])
    expect(idsOf(BLOB, { catalogs: ['https://evil.example/planetarycomputer.microsoft.com/'] })).toEqual([])
    expect(idsOf('https://strangers.blob.core.windows.net/a/b', { catalogs: [PC] })).toEqual([])
  })
})

describe('a document', () => {
  const storages = {
    cdse: { type: 'custom-s3', platform: 'https://eodata.dataspace.copernicus.eu' },
    creodias: { type: 'custom-s3', platform: 'https://eodata.cloudferro.com' },
  }

  it('of Copernicus is recognized by its catalog, its issuer, its hosts and its buckets', () => {
    const document = item(
      { oidc: scheme.oidc(`${CDSE}/.well-known/openid-configuration`) },
      {
        zip: asset('https://zipper.dataspace.copernicus.eu/odata/v1/Products(1)/$value', ['oidc']),
        band: { href: 's3://eodata/a.jp2', 'storage:refs': ['cdse', 'creodias'] },
        thumbnail: { href: 'https://datahub.example/a.jpg' },
      },
    )
    const located = { ...document, properties: { ...(document as { properties?: object }).properties, 'storage:schemes': storages } }
    const { catalog: found, issuers, files } = recognizer.document(located, { url: 'https://stac.dataspace.copernicus.eu/v1/items/1' })
    expect([found?.id, issuers.map(({ id }) => id)]).toEqual(['copernicus', ['copernicus']])
    expect(files.map(({ target, providers: all }) => [target.pointer, all.map(({ id }) => id)])).toEqual([
      ['/assets/zip', ['copernicus']],
      ['/assets/band', ['copernicus', 'creodias']],
    ])
  })

  it('of the Planetary Computer is recognized by its link self, also inside a list of items', () => {
    const links = [{ rel: 'self', href: PC }]
    const one = {
      ...item(undefined, { red: { href: BLOB }, preview: { href: 'https://ai4edatasetspublicassets.blob.core.windows.net/a' } }),
      links,
    }
    expect(filesOf(one)).toEqual({ '/assets/red': ['planetary-computer'] })
    const foreign = item(undefined, { red: { href: BLOB } })
    expect(filesOf({ type: 'FeatureCollection', features: [one, foreign] })).toEqual({ '/features/0/assets/red': ['planetary-computer'] })
    expect(filesOf(foreign, PC)).toEqual({ '/assets/red': ['planetary-computer'] })
  })

  it('is recognized by relative hrefs at its own URL', () => {
    const document = item(undefined, { data: { href: '../a.tif' } })
    expect(filesOf(document, 'https://data.nsidc.earthdatacloud.nasa.gov/x/y/item.json')).toEqual({ '/assets/data': ['earthdata'] })
    expect(filesOf(document)).toEqual({})
  })
})

describe('a document that claims a provider', () => {
  const FILE = 'https://files.evil.example/a.tif'

  it('with its issuer gets its name for the issuer, and none for files elsewhere', () => {
    const document = item({ oidc: scheme.oidc(`${CDSE}/.well-known/openid-configuration`) }, { data: asset(FILE, ['oidc']) })
    const { catalog: found, issuers, files } = recognizer.document(document, { url: 'https://evil.example/item.json' })
    expect([found, issuers.map(({ id }) => id), files]).toEqual([undefined, ['copernicus'], []])
  })

  it.each([
    ['an issuer that looks alike', `${CDSE}.evil.example`],
    ['another realm', 'https://identity.dataspace.copernicus.eu/auth/realms/CDSE-evil'],
    ['a query', `${CDSE}?x=/.well-known/openid-configuration`],
    ['no encryption', CDSE.replace('https:', 'http:')],
  ])('with %s is not recognized', (_name, issuer) => {
    const document = item({ oidc: scheme.oidc(issuer) }, { data: asset(FILE, ['oidc']) })
    expect(recognizer.document(document)).toEqual({ issuers: [], files: [] })
    expect(recognizer.issuer(issuer)).toBeUndefined()
  })

  it('in its title, id, providers, description or storage is not recognized', () => {
    const words = {
      id: 'planetarycomputer',
      title: 'planetarycomputer.microsoft.com',
      description: PC,
      providers: [{ name: 'x', url: PC }],
    }
    const links = [
      { rel: 'via', href: PC },
      { rel: 'about', href: PC },
      { rel: 'self', href: 'https://evil.example/planetarycomputer.microsoft.com' },
    ]
    const document = { ...item(undefined, { data: { href: BLOB } }), ...words, links }
    expect(recognizer.document(document)).toEqual({ issuers: [], files: [] })
    const store = { type: 'custom-s3', platform: 'https://evil.example', title: 'https://eodata.dataspace.copernicus.eu' }
    const stored = { ...item(undefined, { data: { href: 's3://eodata/a', 'storage:refs': ['s'] } }), 'storage:schemes': { s: store } }
    expect(filesOf(stored)).toEqual({})
  })

  it('with its catalog gets no more than the files that are on hosts of the provider', () => {
    const links = [{ rel: 'self', href: PC }]
    const hrefs = [
      FILE,
      'https://strangers.blob.core.windows.net/a',
      `${BLOB.replace('.net', '.net.evil.example')}`,
      BLOB.replace('https:', 'http:'),
    ]
    const document = { ...item(undefined, Object.fromEntries(hrefs.map((href, index) => [`a${index}`, { href }]))), links }
    expect(filesOf(document, 'https://evil.example/item.json')).toEqual({})
  })

  it.each<[string, object]>([
    ['links that are no list', { ...catalog(undefined), links: { rel: 'self', href: PC } }],
    ['links without text', { ...catalog(undefined), links: [null, 1, { rel: 'self', href: 3 }, { rel: ['self'], href: PC }] }],
    ['schemes that are no object', { ...catalog(undefined), 'auth:schemes': [CDSE] }],
    ['schemes of an odd kind', { ...catalog(undefined), 'auth:schemes': { a: null, b: { openIdConnectUrl: { href: CDSE } } } }],
    ['an inherited member', Object.create({ links: [{ rel: 'self', href: PC }] }) as object],
    ['features that are no documents', { type: 'FeatureCollection', features: [null, 'x', { links: 3 }] }],
  ])('with %s is not recognized', (_name, document) => {
    expect(recognizer.document(document)).toEqual({ issuers: [], files: [] })
  })

  it('is compared in a time that grows with its links, not with their square', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({ rel: 'item', href: `https://evil.example/${index}` }))
    expect(recognizer.document({ ...catalog(undefined), links: many }).files).toEqual([])
  })
})

it('an issuer is recognized as written, by its discovery URL, and with or without a slash at its end', () => {
  for (const issuer of [CDSE, `${CDSE}/`, `${CDSE}/.well-known/openid-configuration`])
    expect(recognizer.issuer(issuer)?.id).toBe('copernicus')
  expect(recognizer.issuer('https://login.planet.com')?.id).toBe('planet')
})

it('each pattern of a provider recognizes its own files and catalogs', () => {
  for (const { id, recognizes } of providers) {
    const sample = (pattern: string) => `${pattern.replace('*.', 'x.')}a/b`
    for (const text of recognizes.catalogs) expect(recognizer.catalog(sample(text))?.id, text).toBe(id)
    for (const text of recognizes.files) expect(idsOf(sample(text), { catalogs: recognizes.catalogs }), text).toEqual([id])
  }
})
