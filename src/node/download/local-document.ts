/** Copies of documents beside the files that were downloaded from them. */
import { dirname, relative, sep } from 'node:path'
import { IntegrityError } from '../../errors.ts'
import { percentEncoded } from '../../http/message.ts'
import { isObject, type JsonObject, own, ownString } from '../../stac/json.ts'
import { linkOf } from '../../stac/target.ts'
import { readRegularFile } from '../regular-file.ts'
import { presentFile } from './present-file.ts'
import { writeSmallFile } from './small-file.ts'
import { bareOf } from './target-address.ts'

/**
 * The document for a place of its own: the addresses of those assets lead to the files, all others are written out, and its `self`
 * link, which would say where relative addresses begin, becomes `canonical`. Of an address that was typed, or that an API may have
 * repeated from it, no query is kept: keys are there.
 *
 * @param files paths by the keys of assets
 * @param path where the copy will be
 * @param address where the document was read from; without it its `self` link says so
 */
export function localDocument(
  document: JsonObject,
  files: ReadonlyMap<string, string>,
  path: string,
  address: string | undefined,
): JsonObject {
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

/** Where a document is from: the base of its addresses, and what it calls itself, else that base; both without their queries. */
export function sourceOf(
  document: JsonObject,
  address: string | undefined,
): { readonly url: string | undefined; readonly source: string | undefined } {
  const self = ownString(linkOf(document, 'self')?.object, 'href')
  const url = bareIn(address ?? self)
  return { url, source: bareIn(self, url) ?? url }
}

/**
 * Writes a copy; one of the same document that is there already is replaced.
 *
 * Errors: `PATH_EXISTS` for any other file, `PATH_UNSAFE`, `DISK_FULL`, `FILE_ACCESS`.
 */
export async function writeDocument(path: string, document: JsonObject): Promise<void> {
  const present = presentFile(path)
  const text = `${JSON.stringify(document, undefined, 2)}\n`
  const there = present && (await textIn(path))
  if (there === text) return
  if (present && !(there !== undefined && isCopyOf(there, document)))
    throw new IntegrityError('PATH_EXISTS', `"${path}" exists already and is no copy of this document`, {
      hint: 'move it away or remove it',
    })
  await writeSmallFile(path, [Buffer.from(text)], present !== undefined)
}

/** Own properties only, also for a key such as `__proto__`. */
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

/** With its address in full, where that is known. */
function writtenOut(value: unknown, url: string | undefined): unknown {
  const href = ownString(value, 'href')
  if (!isObject(value) || href === undefined || !URL.canParse(href, url)) return value
  return { ...value, href: new URL(href, url).href }
}

function canonicalLink(url: string): JsonObject {
  return { rel: 'canonical', href: url, type: 'application/json' }
}

/** A relative reference (RFC 3986 §4.2) from one file to another. */
function addressFrom(path: string, file: string): string {
  const segments = relative(dirname(path), file).split(sep)
  return `./${segments.map((segment) => (segment === '..' ? segment : percentEncoded(segment))).join('/')}`
}

/** Origin and path; undefined for what is no address. */
function bareIn(href: string | undefined, base?: string): string | undefined {
  return href !== undefined && URL.canParse(href, base) ? bareOf(new URL(href, base).href) : undefined
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
