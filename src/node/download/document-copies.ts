/** Writes the copy of a document once all of its files are settled. */

import { dirname, join, relative, sep } from 'node:path'
import { type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { percentEncoded } from '../../http/message.ts'
import { failure } from '../../http/network-error.ts'
import { isObject, type JsonObject, own, ownString, type StacDocument } from '../../stac/document.ts'
import { linkOf } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forFileName } from '../../text/file-name.ts'
import { presentFile, readRegularFile } from '../base/files.ts'
import { writeSmallFile } from './destination/small-file.ts'
import { bareOf } from './destination/target-folder.ts'
import type { DocumentEvent, DownloadEvent } from './download.ts'
import type { FilePlan, PlannedFile } from './file-plan.ts'

/** A document and the results of its files. */
interface Copy {
  readonly document: StacDocument
  readonly url: string | undefined
  readonly path: string
  /** True if a copy of the same document exists already. */
  readonly isRepeated: boolean
  readonly error?: AuthError
  readonly files: Map<string, string>
  /** Keys of assets that are folders with a missing object. */
  readonly partial: Set<string>
  waiting: number
  isWhole: boolean
}

export class DocumentCopies {
  readonly #plan: FilePlan
  readonly #copies = new Map<StacDocument, Copy>()
  /** Documents without a known URL. */
  #unknown = 0

  constructor(plan: FilePlan) {
    this.#plan = plan
  }

  /** Registers a file of a document; the copy is written beside the first one. */
  expect({ file, selected: wanted }: PlannedFile): void {
    const { document, url } = wanted.targets[0].scope
    const copy = this.#copies.get(document) ?? this.#begin(document, url, wanted.folder?.path ?? file.path)
    copy.waiting++
  }

  /** Registers the result of a file. Returns the event of the document if it was the last one. */
  async settle({ selected: wanted }: PlannedFile, event: DownloadEvent): Promise<DocumentEvent | undefined> {
    const { document } = wanted.targets[0].scope
    const copy = this.#copies.get(document)
    if (!copy) return undefined
    copy.waiting--
    if (event.kind === 'written' || event.kind === 'kept') copy.files.set(wanted.key, wanted.folder?.path ?? event.file.path)
    else if (wanted.folder && event.kind !== 'skipped') copy.partial.add(wanted.key)
    return copy.isWhole ? this.#finish(copy) : undefined
  }

  /** Marks all files as known. Returns the events of settled documents. */
  async close(): Promise<readonly DocumentEvent[]> {
    const events: DocumentEvent[] = []
    for (const copy of this.#copies.values()) {
      copy.isWhole = true
      const event = await this.#finish(copy)
      if (event) events.push(event)
    }
    return events
  }

  #begin(document: StacDocument, url: string | undefined, beside: string): Copy {
    const id = ownString(document, 'id') ?? 'document'
    const path = join(dirname(beside), forFileName(`${id}.json`))
    const place = this.#placeFor(path, `document ${sourceOf(document, url).source ?? ++this.#unknown}`)
    const copy: Copy = { document, url, path, files: new Map(), partial: new Set(), waiting: 0, isWhole: false, ...place }
    this.#copies.set(document, copy)
    return copy
  }

  #placeFor(path: string, source: string): { readonly isRepeated: boolean; readonly error?: AuthError } {
    try {
      return { isRepeated: !this.#plan.reserve(path, source) }
    } catch (error) {
      if (!isAuthError(error)) throw error
      return { isRepeated: false, error }
    }
  }

  async #finish(copy: Copy): Promise<DocumentEvent | undefined> {
    const { document, files, path, url, error } = copy
    if (copy.waiting > 0 || !this.#copies.delete(document)) return undefined
    for (const key of copy.partial) files.delete(key)
    // A copy without any downloaded file is useless.
    if (files.size === 0 || copy.isRepeated) return undefined
    const id = ownString(document, 'id')
    const event = { kind: 'document', path, ...(id !== undefined && { id }) } as const
    if (error) return { ...event, error }
    try {
      await writeDocument(path, localDocument(document, files, path, url))
      return event
    } catch (thrown) {
      return { ...event, error: isAuthError(thrown) ? thrown : failure(thrown, undefined, '') }
    }
  }
}

/**
 * Returns the document for a location of its own: URLs of those assets become relative paths of the files, all others absolute, and its `self`
 * link, which would be the base of relative URLs, becomes `canonical`. URLs that were typed, or that an API may have copied from them, lose
 * their query, which may hold keys.
 *
 * @param files paths by asset key
 * @param path of the copy
 * @param address the URL that the document was read from; default: its `self` link
 */
function localDocument(document: JsonObject, files: ReadonlyMap<string, string>, path: string, address: string | undefined): JsonObject {
  const links = own(document, 'links')
  const stated = Array.isArray(links) ? links.filter((link) => ownString(link, 'rel') !== 'self') : []
  const { url, source } = sourceOf(document, address)
  const canonical = source === undefined || stated.some((link) => ownString(link, 'rel') === 'canonical') ? [] : [canonicalLink(source)]
  const assets = own(document, 'assets')
  return {
    ...document,
    links: [...canonical, ...stated.map((link) => writtenOut(link, url))],
    ...(isObject(assets) && {
      assets: Object.fromEntries(Object.entries(assets).map(([key, asset]) => [key, localAsset(asset, files.get(key), path, url)])),
    }),
  }
}

/** Returns the base URL of a document, and the URL of its `self` link or else the base; both without their queries. */
function sourceOf(
  document: JsonObject,
  address: string | undefined,
): { readonly url: string | undefined; readonly source: string | undefined } {
  const self = ownString(linkOf(document, 'self')?.object, 'href')
  const url = bareIn(address ?? self)
  return { url, source: bareIn(self, url) ?? url }
}

/**
 * Writes a copy; replaces an existing copy of the same document.
 *
 * Errors: `PATH_EXISTS` for any other file, `PATH_UNSAFE`, `DISK_FULL`, `FILE_ACCESS`.
 */
async function writeDocument(path: string, document: JsonObject): Promise<void> {
  const present = presentFile(path)
  const text = `${JSON.stringify(document, undefined, 2)}\n`
  const there = present && (await textIn(path))
  if (there === text) return
  if (present && !(there !== undefined && isCopyOf(there, document)))
    throw new IntegrityError('PATH_EXISTS', `"${path}" exists already and is not a copy of this document`, {
      hint: 'move it away or remove it',
    })
  await writeSmallFile(path, [Buffer.from(text)], present !== undefined)
}

/** Reads and sets own properties only, also for a key such as `__proto__`. */
function localAsset(asset: unknown, file: string | undefined, path: string, url: string | undefined): unknown {
  if (!isObject(asset)) return asset
  const alternates = own(asset, 'alternate')
  const out = writtenOut(asset, url) as JsonObject
  return {
    ...out,
    ...(file !== undefined && { href: addressFrom(path, file) }),
    ...(isObject(alternates) && {
      alternate: Object.fromEntries(Object.entries(alternates).map(([name, alternate]) => [name, writtenOut(alternate, url)])),
    }),
  }
}

/** Returns the object with an absolute URL, if it is known. */
function writtenOut(value: unknown, url: string | undefined): unknown {
  const href = ownString(value, 'href')
  if (!isObject(value) || href === undefined || !canParseUrl(href, url)) return value
  return { ...value, href: new URL(href, url).href }
}

function canonicalLink(url: string): JsonObject {
  return { rel: 'canonical', href: url, type: 'application/json' }
}

/** Returns a relative reference (RFC 3986 §4.2) from one file to another. */
function addressFrom(path: string, file: string): string {
  const segments = relative(dirname(path), file).split(sep)
  return `./${segments.map((segment) => (segment === '..' ? segment : percentEncoded(segment))).join('/')}`
}

/** Returns origin and path; undefined for text that is not a URL. */
function bareIn(href: string | undefined, base?: string): string | undefined {
  return href !== undefined && canParseUrl(href, base) ? bareOf(new URL(href, base).href) : undefined
}

async function textIn(path: string): Promise<string | undefined> {
  const reading = await readRegularFile(path, LONGEST)
  return 'problem' in reading ? undefined : Buffer.from(reading.bytes).toString()
}

function isCopyOf(text: string, document: JsonObject): boolean {
  const source = canonicalOf(document)
  try {
    const present: unknown = JSON.parse(text)
    return ownString(present, 'id') === ownString(document, 'id') && source !== undefined && canonicalOf(present) === source
  } catch {
    return false
  }
}

const LONGEST = 50 * 2 ** 20

function canonicalOf(document: unknown): string | undefined {
  return isObject(document) ? ownString(linkOf(document, 'canonical')?.object, 'href') : undefined
}
