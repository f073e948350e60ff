/** Assigns every file its path below the folder. */
import { relative, sep } from 'node:path'
import { type AuthError, ConfigurationError, IntegrityError } from '../../errors.ts'
import { mediaType } from '../../http/headers.ts'
import { own, ownString, type StacDocument } from '../../stac/document.ts'
import type { Target } from '../../stac/target.ts'
import { foldedName, forFileName, nameInAddress, numberedName, partsOfName } from '../../text/file-name.ts'
import type { Destination } from './destination/destination.ts'
import { targetAddress } from './destination/target-folder.ts'
import type { DownloadFile } from './download.ts'
import type { SelectedFile } from './selected-files.ts'

/** A file to fetch, or the reason why it has no path. */
export interface PlannedFile {
  readonly file: DownloadFile
  readonly selected: SelectedFile
  /** Number of an earlier file with the same URL and path, whose result this one shares. */
  readonly repeats?: number
  /** True if its name has no extension: the response may propose one. */
  readonly lacksSuffix?: true
  readonly error?: AuthError
}

/** The owner of a path. */
interface Owner {
  readonly name: string
  /** Number of the last file there. */
  readonly number?: number
  /** Identifies the owner. */
  readonly source: string
  /** The planned name, if a suffix was added to it. */
  readonly base?: string
}

/** Longest suffix that a server proposes, with its dot. */
const LONGEST_SUFFIX = 16

interface PlanOptions {
  readonly name: NameFile
  readonly folder: Destination
  readonly collisions: 'refuse' | 'rename'
  /** All files of the document of a file. */
  readonly siblings: (wanted: SelectedFile) => Iterable<SelectedFile>
}

/** Assigns paths. Two files never share one, also on file systems that treat two names as equal. */
export class FilePlan {
  readonly #options: PlanOptions
  /** Owners by folded name. */
  readonly #taken = new Map<string, Owner>()
  /** Files in progress whose suffix is not known yet, by folded name, with their documents. */
  readonly #open = new Map<string, StacDocument>()
  /** Folded names of all files of documents with a file for which a suffix was proposed. */
  readonly #siblings = new WeakMap<StacDocument, ReadonlySet<string>>()
  /** The suffixes of taken names, by the folded name before them; made when it is first needed. */
  #endings: Map<string, Map<string, Owner>> | undefined
  #count = 0

  constructor(options: PlanOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#count
  }

  /** Returns the path of a file, shared only with files of the same URL; `PATH_COLLISION` if another file owns it. */
  place(wanted: SelectedFile): PlannedFile {
    const [target] = wanted.targets
    const source = sourceOf(target)
    const { segments: wish, lacksSuffix } = this.#wish(wanted)
    const { segments, owner } = this.#free(wish, source)
    const file = fileAt(segments, ++this.#count, wanted, this.#options.folder)
    if (owner && owner.source !== source) return { file, selected: wanted, error: collision(file, owner.name) }
    this.#take({ name: file.name, number: file.number, source })
    return {
      file,
      selected: wanted,
      ...(owner?.number !== undefined && { repeats: owner.number }),
      ...(lacksSuffix && this.#options.folder.isLocal && { lacksSuffix }),
    }
  }

  /** Marks a file as in progress: its suffix is open until it is {@link settled}. */
  begun({ file, selected: wanted, lacksSuffix }: PlannedFile): void {
    if (lacksSuffix) this.#open.set(foldedName(file.name), wanted.targets[0].scope.document)
  }

  /** Marks the name of a file as final. */
  settled({ file, lacksSuffix }: PlannedFile): void {
    if (lacksSuffix) this.#open.delete(foldedName(file.name))
  }

  /** Returns true while a file of another document, which is in progress, may get this name by its suffix. */
  mustWait(wanted: SelectedFile): boolean {
    if (this.#open.size === 0) return false
    const name = foldedName(this.#wish(wanted).segments.join('/'))
    const { document } = wanted.targets[0].scope
    for (let dot = name.lastIndexOf('.'); dot > 0 && name.length - dot <= LONGEST_SUFFIX; dot = name.lastIndexOf('.', dot - 1)) {
      const owner = this.#open.get(name.slice(0, dot))
      if (owner && owner !== document) return true
    }
    return false
  }

  /**
   * Returns the file with a suffix that the server proposed; undefined if that is the name of any file planned before or of its own document: it
   * gets no suffix then, whichever of them is fetched first.
   */
  withSuffix({ file, selected: wanted }: PlannedFile, suffix: string): DownloadFile | undefined {
    const [name, source] = [file.name + suffix, sourceOf(wanted.targets[0])]
    const owner = this.#taken.get(foldedName(name))
    const isOurs = owner?.base === file.name && owner.source === source
    if (owner ? !isOurs : this.#isOfSibling(wanted, name)) return undefined
    this.#take({ name, number: file.number, source, base: file.name })
    return { ...file, name, path: file.path + suffix }
  }

  /** Returns the suffixes, in lower case, with which {@link withSuffix} refuses this file, for a process without the plan. */
  refusedSuffixes({ file, selected: wanted }: PlannedFile): readonly string[] {
    if (!this.#endings) {
      this.#endings = new Map()
      for (const owner of this.#taken.values()) this.#index(owner)
    }
    const [base, source] = [foldedName(file.name), sourceOf(wanted.targets[0])]
    const taken = [...(this.#endings.get(base) ?? [])].filter(([, owner]) => !(owner.base === file.name && owner.source === source))
    const names = [...this.#siblingNames(wanted)].filter((name) => name.startsWith(`${base}.`))
    return [...new Set([...taken.map(([suffix]) => suffix), ...names.map((name) => name.slice(base.length))])]
  }

  #isOfSibling(wanted: SelectedFile, name: string): boolean {
    return this.#siblingNames(wanted).has(foldedName(name))
  }

  #siblingNames(wanted: SelectedFile): ReadonlySet<string> {
    const { document } = wanted.targets[0].scope
    const nameFor = (sibling: SelectedFile) => foldedName(this.#wish(sibling).segments.join('/'))
    const names = this.#siblings.get(document) ?? new Set(Array.from(this.#options.siblings(wanted), nameFor))
    this.#siblings.set(document, names)
    return names
  }

  #take(owner: Owner): void {
    this.#taken.set(foldedName(owner.name), owner)
    if (this.#endings) this.#index(owner)
  }

  #index(owner: Owner): void {
    const name = foldedName(owner.name)
    for (let dot = name.lastIndexOf('.'); dot > 0 && name.length - dot <= LONGEST_SUFFIX; dot = name.lastIndexOf('.', dot - 1)) {
      const base = name.slice(0, dot)
      const endings = this.#endings?.get(base) ?? new Map<string, Owner>()
      this.#endings?.set(base, endings.set(name.slice(dot), owner))
    }
  }

  #wish({ targets: [target], folder, key, localPath }: SelectedFile): FileName {
    return folder ? { segments: folder.segments, lacksSuffix: false } : this.#options.name(target, key, localPath)
  }

  /**
   * Reserves a path for something that is not an asset. Returns false if the same source owns it already.
   *
   * Errors: `PATH_COLLISION` if anything else owns it.
   */
  reserve(path: string, source: string): boolean {
    const name = relative(this.#options.folder.path, path).split(sep).join('/')
    const owner = this.#taken.get(foldedName(name))
    if (owner && owner.source !== source) throw collision({ name, pointer: '' }, owner.name)
    this.#take({ name, source })
    return owner === undefined
  }

  /** Returns the first free path or one of the same source, as far as files may be renamed. */
  #free(wish: readonly string[], source: string): { readonly segments: readonly string[]; readonly owner: Owner | undefined } {
    const [last = '', ...above] = [...wish].reverse()
    let segments = wish
    for (let number = 2; ; number++) {
      const owner = this.#taken.get(foldedName(segments.join('/')))
      if (!owner || owner.source === source || this.#options.collisions !== 'rename') return { segments, owner }
      segments = [...above.toReversed(), numberedName(last, number)]
    }
  }
}

/** Returns the first URL to request, with its query. */
function sourceOf(target: Target): string {
  return targetAddress(target).bare + (/\?[^#]*/.exec(target.href)?.[0] ?? '')
}

function fileAt(segments: readonly string[], number: number, { targets: [target], key, size }: SelectedFile, folder: Destination) {
  const id = ownString(target.scope.document, 'id')
  return {
    number,
    name: segments.join('/'),
    path: folder.pathOf(segments),
    url: targetAddress(target).bare,
    pointer: target.pointer,
    ...(id !== undefined && { document: id }),
    ...(key !== '' && { key }),
    ...(size !== undefined && { size }),
  }
}

function collision({ name, pointer }: Pick<DownloadFile, 'name' | 'pointer'>, owner: string): IntegrityError {
  return new IntegrityError('PATH_COLLISION', `"${name}" is already the name of another file${owner === name ? '' : `: "${owner}"`}`, {
    pointer,
    hint: 'choose another template for the names, such as {collection}/{id}/{key}{ext}, or have the second file renamed',
  })
}

/** The path of a file. */
interface FileName {
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
type NameFile = (target: Target, key: string, localPath?: string) => FileName

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
