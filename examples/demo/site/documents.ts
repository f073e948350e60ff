/** The catalog that the page shows: scenes, a climate model, fields, and credentials of somebody who wants what others have. */
import { AUTHENTICATION } from '../documents.ts'
import { GRID } from './holdings.ts'
import { asset, item, type Json, key, link, named, placeOf, portal, type SiteAddresses, TIFF, within } from './item.ts'
import { scatteredItems } from './search.ts'
import { disguise, lookAlike, otherLogin } from './suspicious.ts'

/** The documents by path. */
export function siteDocuments(addresses: SiteAddresses): Readonly<Record<string, Json>> {
  return {
    '/catalog.json': root(),
    '/scenes/collection.json': collection('scenes', 'Scenes', SCENES, ['lake', 'coast', 'delta'], [-4, 43, 31, 55]),
    '/scenes/lake.json': lake(addresses),
    '/scenes/coast.json': coast(addresses),
    '/scenes/delta.json': delta(addresses),
    '/models/collection.json': collection('models', 'Models and registers', MODELS, ['climate', 'fields'], [-10, 40, 30, 60]),
    '/models/climate.json': climate(addresses),
    '/models/fields.json': fields(addresses),
    ...api(),
    '/suspicious/collection.json': collection(
      'suspicious',
      'Suspicious entries',
      SUSPICIOUS,
      ['look-alike', 'other-login', 'disguise'],
      WORLD,
    ),
    '/suspicious/look-alike.json': lookAlike(addresses),
    '/suspicious/other-login.json': otherLogin(addresses),
    '/suspicious/disguise.json': disguise(addresses),
  }
}

const WORLD = [-180, -90, 180, 90]
const SCENES = 'Three pictures from above, each behind another lock: a login, a key, and a session of this site.'
const MODELS = 'Numbers instead of pictures: a Zarr array behind a key, a Parquet table behind a password.'
const SUSPICIOUS =
  'What a hostile catalog would try. Its files stand on a host of a stranger and refer to the lock of the archive, so that a careless client sends the login there.'

function root(): Json {
  return {
    type: 'Catalog',
    stac_version: '1.1.0',
    id: 'meridian',
    title: 'Meridian archive',
    description: 'An archive that exists only while the demo runs. Everybody may look at what is there; each file has a lock.',
    links: [
      link('root', './catalog.json'),
      link('child', './scenes/collection.json', 'Scenes'),
      link('child', './models/collection.json', 'Models and registers'),
      link('child', './suspicious/collection.json', 'Suspicious entries'),
      { rel: 'license', href: 'https://creativecommons.org/publicdomain/zero/1.0/', type: 'text/html', title: 'CC0 1.0' },
    ],
  }
}

/** The items that a search of the API finds. */
export function foundItems(addresses: SiteAddresses): readonly Json[] {
  const renamed = (path: string, { links, ...rest }: Json) => ({ ...rest, links: [link('self', path), ...(links as readonly object[])] })
  return [
    renamed('/scenes/lake.json', lake(addresses)),
    renamed('/scenes/coast.json', coast(addresses)),
    renamed('/models/climate.json', climate(addresses)),
    ...scatteredItems(),
  ]
}

/** The same items by way of an API, with a search for everyone and one behind a key. */
function api(): Readonly<Record<string, Json>> {
  const found = scatteredItems().map((one): [string, Json] => [`/api/items/${one.id}`, one])
  const landing = {
    ...root(),
    conformsTo: ['https://api.stacspec.org/v1.0.0/core', 'https://api.stacspec.org/v1.0.0/item-search'],
  }
  const search = { rel: 'search', type: 'application/geo+json', method: 'GET' }
  return {
    '/api': {
      ...landing,
      id: 'meridian-api',
      title: 'Meridian API',
      description: 'The archive as an API gives it, and forty scenes all over the world.',
      links: [
        link('root', '/api'),
        link('data', '/api/collections', 'All collections'),
        link('child', '/api/members', 'Search for members'),
        { ...search, href: '/api/search' },
      ],
    },
    '/api/members': {
      ...landing,
      stac_extensions: [AUTHENTICATION],
      id: 'meridian-members',
      title: 'Search for members',
      description: 'The same search, behind the key of the archive.',
      'auth:schemes': key,
      links: [link('root', '/api', 'Meridian API'), { ...search, href: '/api/members/search', 'auth:refs': ['archive'] }],
    },
    '/api/collections': {
      collections: [
        {
          ...collection('scenes', 'Scenes', SCENES, [], [-4, 43, 31, 55]),
          links: [link('self', '/scenes/collection.json'), link('root', '/api', 'Meridian API')],
        },
      ],
      links: [link('root', '/api', 'Meridian API')],
    },
    ...Object.fromEntries(found),
  }
}

function collection(id: string, title: string, description: string, items: readonly string[], bbox: readonly number[]): Json {
  return {
    type: 'Collection',
    stac_version: '1.1.0',
    id,
    title,
    description,
    license: 'CC0-1.0',
    extent: { spatial: { bbox: [bbox] }, temporal: { interval: [['2026-01-01T00:00:00Z', null]] } },
    links: [
      link('root', '../catalog.json', 'Meridian archive'),
      link('parent', '../catalog.json', 'Meridian archive'),
      ...items.map((number) => link('item', `./${number}.json`, named(number))),
    ],
  }
}

function lake({ archive, issuer }: SiteAddresses): Json {
  const assets = {
    visual: asset('True colour', `${archive}/members/lake.tif`, TIFF, ['visual', 'data'], ['portal']),
    thumbnail: asset('Preview', `${archive}/members/lake.png`, 'image/png', ['thumbnail'], ['portal']),
    report: asset('Report', `${archive}/members/report.txt`, 'text/plain', ['metadata'], ['portal']),
  }
  return item(
    'lake',
    'scenes',
    placeOf('lake'),
    portal(issuer),
    assets,
    'A lake in the hills. Its files are for members who have logged in.',
  )
}

function coast({ archive }: SiteAddresses): Json {
  const assets = {
    visual: asset('True colour', `${archive}/keys/coast.tif`, TIFF, ['visual', 'data'], ['archive']),
    thumbnail: asset('Preview', `${archive}/keys/coast.png`, 'image/png', ['thumbnail'], ['archive']),
  }
  return item('coast', 'scenes', placeOf('coast'), key, assets, 'A coast with lagoons. Its files open with a key in a header.')
}

function delta({ archive }: SiteAddresses): Json {
  const schemes = { site: { type: 'http', scheme: 'bearer', description: 'A token of the site' } }
  const assets = { thumbnail: asset('Preview', `${archive}/pictures/delta.png`, 'image/png', ['thumbnail'], ['site']) }
  return item(
    'delta',
    'scenes',
    placeOf('delta'),
    schemes,
    assets,
    'A delta. This site has a token for its preview, which no script of the page ever sees.',
  )
}

function climate({ archive }: SiteAddresses): Json {
  const about = `${GRID.months} months of air temperature on a grid of ${GRID.size} by ${GRID.size} cells.`
  const assets = {
    temperature: asset('Air temperature', `${archive}/keys/climate.zarr`, 'application/vnd.zarr; version=3', ['data'], ['archive']),
  }
  return item('climate', 'models', within(-10, 40, 30, 60), key, assets, about)
}

function fields({ archive }: SiteAddresses): Json {
  const schemes = { register: { type: 'http', scheme: 'basic', description: 'Account at the land register' } }
  const assets = { table: asset('Fields', `${archive}/tables/fields.parquet`, 'application/vnd.apache.parquet', ['data'], ['register']) }
  return item(
    'fields',
    'models',
    within(11.2, 43.9, 12.6, 44.8),
    schemes,
    assets,
    'A register of fields with crops and sizes, behind a password.',
  )
}
