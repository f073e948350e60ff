import { ConfigurationError } from '../../errors.ts'
import { mediaType } from '../../http/media-type.ts'
import { own, ownString } from '../../stac/json.ts'
import type { Target } from '../../stac/target.ts'
import { forFileName, partsOfName } from '../../text/file-name.ts'

/** Where a file goes. */
export interface FileName {
  /** Of a path below the folder, each of them safe by itself. */
  readonly segments: readonly string[]
  /** The template ends in the extension of the file, and nothing in the document says what that is. */
  readonly lacksSuffix: boolean
}

/**
 * Names the file of a target.
 *
 * @param localPath `file:local_path`
 */
export type NameFile = (target: Target, key: string, localPath?: string) => FileName

const FIELDS = ['id', 'collection', 'key', 'name', 'stem', 'ext', 'year', 'month', 'day', 'local_path'] as const
type Field = (typeof FIELDS)[number]
type TextField = Exclude<Field, 'local_path'>

/** It may be several segments, so it is one of the template by itself. */
const LOCAL_PATH = '{local_path}'

/** Folders in a `file:local_path`, with the name of the file; and UTF-16 units of all of it. */
const MOST_SEGMENTS = 16
const LONGEST_LOCAL_PATH = 1024

/** What stands for a member that a document does not have. */
const ABSENT = '_'

/**
 * Reads a template such as `{collection}/{id}/{name}`. Whatever documents say, every segment stays one.
 *
 * Errors: `CONFIG_INVALID` for a field that does not exist, and for a path that leads out of the folder.
 */
export function pathTemplate(template: string): NameFile {
  const segments = template.split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..' || segment.includes('\\')))
    throw invalid(template, 'names no file below the folder')
  for (const [, field = ''] of template.matchAll(/\{([^{}]*)\}/g))
    if (!isField(field)) throw invalid(template, `has a field {${field}}; there are ${FIELDS.join(', ')}`)
  if (/[{}]/.test(template.replace(/\{[^{}]*\}/g, ''))) throw invalid(template, 'has a brace without its other half')
  if (segments.some((segment) => segment.includes(LOCAL_PATH) && segment !== LOCAL_PATH))
    throw invalid(template, `has other text beside ${LOCAL_PATH} between two slashes`)
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
 * The segments of a `file:local_path` as safe names; undefined for none, and for one that is not a relative path of a file with `/` between its
 * segments, as its extension requires: nothing of such a path is used.
 */
function localSegments(path = ''): readonly string[] | undefined {
  if (path.length > LONGEST_LOCAL_PATH || /^\/|^[a-z]:|\\|[\0-\x1f\x7f-\x9f]|\/$/i.test(path)) return undefined
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.length === 0 || segments.length > MOST_SEGMENTS || segments.includes('..')) return undefined
  return segments.map(forFileName)
}

/** The last segment of the path of an address, decoded once (RFC 3986 §2.4), as a safe name. */
export function nameInAddress(href: string): string {
  const path = href.replace(/[?#].*$/s, '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
  return forFileName(decoded(path.slice(path.lastIndexOf('/') + 1)))
}

/** Last segments of URLs that say what is done and not what is given, such as `$value` of OData; `asset` stands for none. */
const SAYS_NOTHING = /^(?:\$value|value|download|file|content|get|raw|asset)$/i

/** Extensions by media type, for names that have none. */
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
 * The name of a file: from its URL, where that says anything, else the key of its asset, with the id of the document where the
 * template does not keep documents apart. What has no extension gets that of its media type.
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

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function invalid(template: string, problem: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `the template "${template}" ${problem}`)
}
