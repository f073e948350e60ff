/** Copies of documents beside the files that were downloaded from them. */
import { dirname, relative, sep } from 'node:path'
import { IntegrityError } from '../../errors.ts'
import { percentEncoded } from '../../http/message.ts'
import { isObject, type JsonObject, own, ownString } from '../../stac/json.ts'
import { readRegularFile } from '../regular-file.ts'
import { presentFile } from './present-file.ts'
import { writeSmallFile } from './small-file.ts'

/**
 * The document for a place of its own: the addresses of those assets lead to the files, all others are written out, and its `self`
 * link, which would say where relative addresses begin, becomes `canonical`.
 *
 * @param files paths by the keys of assets
 * @param path where the copy will be
 * @param url where the document was read from
 */
export function localDocument(document: JsonObject, files: ReadonlyMap<string, string>, path: string, url: string | undefined): JsonObject {
  const links = own(document, 'links')
  const stated = Array.isArray(links) ? links.filter((link) => ownString(link, 'rel') !== 'self') : []
  const canonical = url === undefined || stated.some((link) => ownString(link, 'rel') === 'canonical') ? [] : [canonicalLink(url)]
  const assets = own(document, 'assets')
  return {
    ...document,
    links: [...canonical, ...stated.map((link) => writtenOut(link, url))],
    ...(isObject(assets) && {
      assets: Object.fromEntries(Object.entries(assets).map(([key, asset]) => [key, localAsset(asset, files.get(key), path, url)])),
    }),
  }
}

/**
 * Writes a copy; one of the same document that is there already is replaced.
 *
 * Errors: `PATH_EXISTS` for any other file, `PATH_UNSAFE`, `DISK_FULL`, `FILE_ACCESS`.
 */
export async function writeDocument(path: string, document: JsonObject): Promise<void> {
  const present = presentFile(path)
  if (present && !(await isCopyOf(path, document)))
    throw new IntegrityError('PATH_EXISTS', `"${path}" exists already and is no copy of this document`, { hint: 'remove it' })
  await writeSmallFile(path, [Buffer.from(`${JSON.stringify(document, undefined, 2)}\n`)], present !== undefined)
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

async function isCopyOf(path: string, document: JsonObject): Promise<boolean> {
  const reading = await readRegularFile(path, LONGEST)
  if ('problem' in reading) return false
  const source = canonicalOf(document)
  try {
    const present: unknown = JSON.parse(Buffer.from(reading.bytes).toString())
    return ownString(present, 'id') === ownString(document, 'id') && source !== undefined && canonicalOf(present) === source
  } catch {
    return false
  }
}

const LONGEST = 50 * 2 ** 20

function canonicalOf(document: unknown): string | undefined {
  const links = own(document, 'links')
  return Array.isArray(links)
    ? ownString(
        links.find((link) => ownString(link, 'rel') === 'canonical'),
        'href',
      )
    : undefined
}
