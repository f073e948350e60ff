/** Names files by a template such as `{collection}/{id}/{name}`. */
import { ConfigurationError } from '../../errors.ts'
import { mediaType } from '../../http/headers.ts'
import { own, ownString } from '../../stac/document.ts'
import type { Target } from '../../stac/target.ts'
import { forFileName, nameInAddress, partsOfName } from '../../text/file-name.ts'

/** The path of a file. */
export interface FileName {
  /** Segments below the folder; each is a safe file name. */
  readonly segments: readonly string[]
  /** True if the template ends in the extension of the file, and the document does not state one. */
  readonly lacksSuffix: boolean
}

/**
 * Returns the path of the file of a target.
 *
 * @param localPath `file:local_path`
 */
export type NameFile = (target: Target, key: string, localPath?: string) => FileName

const FIELDS = ['id', 'collection', 'key', 'name', 'stem', 'ext', 'year', 'month', 'day', 'local_path'] as const

type Field = (typeof FIELDS)[number]

type TextField = Exclude<Field, 'local_path'>

/** May consist of several segments, so it is a whole segment of the template. */
const LOCAL_PATH = '{local_path}'

/** Limits of a `file:local_path`: segments, and UTF-16 units in all. */
const MOST_SEGMENTS = 16

const LONGEST_LOCAL_PATH = 1024

/** Replaces a member that the document lacks. */
const ABSENT = '_'

/**
 * Parses a template such as `{collection}/{id}/{name}`. Values of documents never add a segment.
 *
 * Errors: `CONFIG_INVALID` for an unknown field, and for a path outside the folder.
 */
export function pathTemplate(template: string): NameFile {
  const segments = template.split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..' || segment.includes('\\')))
    throw invalid(template, 'does not name a file below the folder')
  for (const [, field = ''] of template.matchAll(/\{([^{}]*)\}/g))
    if (!isField(field)) throw invalid(template, `has a field {${field}}; there are ${FIELDS.join(', ')}`)
  if (/[{}]/.test(template.replace(/\{[^{}]*\}/g, ''))) throw invalid(template, 'has an unmatched brace')
  if (segments.some((segment) => segment.includes(LOCAL_PATH) && segment !== LOCAL_PATH))
    throw invalid(template, `has other text next to ${LOCAL_PATH} between two slashes`)
  const isPerItem = template.includes('{id}')
  const isOpen = /\{(?:name|ext|local_path)\}$/.test(template)
  return (target, key, localPath) => {
    const values = valuesOf(target, key, isPerItem)
    const named = (segment: string) => forFileName(segment.replace(/\{([^{}]*)\}/g, (_, field: TextField) => values[field]))
    const local = template.endsWith(LOCAL_PATH) ? localSegments(localPath) : undefined
    const places = segments.flatMap((segment) =>
      segment === LOCAL_PATH ? (localSegments(localPath) ?? [forFileName(values.name)]) : [named(segment)],
    )
    return { segments: places, lacksSuffix: isOpen && !local && partsOfName(places.at(-1) ?? '').extension === '' }
  }
}

/**
 * Returns the segments of a `file:local_path` as safe names; undefined if it is missing or not a relative path with `/` as separator, as its
 * extension requires.
 */
function localSegments(path = ''): readonly string[] | undefined {
  if (path.length > LONGEST_LOCAL_PATH || /^\/|^[a-z]:|\\|[\0-\x1f\x7f-\x9f]|\/$/i.test(path)) return undefined
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.length === 0 || segments.length > MOST_SEGMENTS || segments.includes('..')) return undefined
  return segments.map(forFileName)
}

/** Last segments of URLs that name an operation, such as `$value` of OData; `asset` is the fallback name. */
const SAYS_NOTHING = /^(?:\$value|value|download|file|content|get|raw|asset)$/i

/** Extensions by media type, for names without one. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/geo+json': '.geojson',
  'application/geopackage+sqlite3': '.gpkg',
  'application/gzip': '.gz',
  'application/json': '.json',
  'application/netcdf': '.nc',
  'application/pdf': '.pdf',
  'application/vnd.apache.parquet': '.parquet',
  'application/vnd.google-earth.kml+xml': '.kml',
  'application/vnd.google-earth.kmz': '.kmz',
  'application/vnd.las': '.las',
  'application/vnd.laszip': '.laz',
  'application/vnd.laszip+copc': '.copc.laz',
  'application/wmo-grib2': '.grib2',
  'application/x-hdf': '.hdf',
  'application/x-hdf5': '.h5',
  'application/x-netcdf': '.nc',
  'application/x-parquet': '.parquet',
  'application/x-tar': '.tar',
  'application/xml': '.xml',
  'application/zip': '.zip',
  'image/jp2': '.jp2',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/svg+xml': '.svg',
  'image/tiff': '.tif',
  'image/webp': '.webp',
  'text/csv': '.csv',
  'text/html': '.html',
  'text/plain': '.txt',
  'text/xml': '.xml',
}

/**
 * Returns the name of a file: the last segment of its URL if that is specific, else the key of its asset, with the id of the document if the
 * template does not separate documents. A name without an extension gets that of its media type.
 */
function nameOf({ scope: { document }, href, object }: Target, key: string, isPerItem: boolean): string {
  const inAddress = nameInAddress(href)
  const id = isPerItem ? '' : ownString(document, 'id')
  const name = SAYS_NOTHING.test(inAddress) && key !== '' ? forFileName(id ? `${id}_${key}` : key) : inAddress
  const type = mediaType(ownString(object, 'type'))
  return partsOfName(name).extension === '' && Object.hasOwn(EXTENSIONS, type) ? forFileName(`${name}${EXTENSIONS[type]}`) : name
}

function valuesOf(target: Target, key: string, isPerItem: boolean): Readonly<Record<TextField, string>> {
  const { document } = target.scope
  const name = nameOf(target, key, isPerItem)
  const { stem, extension } = partsOfName(name)
  const properties = own(document, 'properties')
  const moment = ownString(properties, 'datetime') ?? ownString(properties, 'start_datetime') ?? ''
  const [, year = ABSENT, month = ABSENT, day = ABSENT] = /^(\d{4})-(\d\d)-(\d\d)/.exec(moment) ?? []
  const text = (member: string) => ownString(document, member) || ABSENT
  return { id: text('id'), collection: text('collection'), key: key || ABSENT, name, stem, ext: extension, year, month, day }
}

function isField(field: string): field is Field {
  return (FIELDS as readonly string[]).includes(field)
}

function invalid(template: string, problem: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `the template "${template}" ${problem}`)
}
