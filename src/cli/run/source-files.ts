/** Files among the arguments of a program that name their sources, such as a VRT: for the time of a run these are URLs of the gateway. */
import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { systemCode, writeFailure } from '../../node/base/index.ts'
import { type Gateway, readGatewayPath } from '../../node/gateway/index.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'

type Serving = Pick<Gateway, 'base' | 'urlFor' | 'allows'>

/** A gateway with a name has URLs that stay valid: they are left in files that the program writes. */
type NamedServing = Serving & { readonly isNamed: boolean }

/** A virtual raster, and a project of QGIS. */
const NAMES_SOURCES = /\.(?:vrt|qgs)$/i

/** Bytes; longer files are passed as they are. */
const MAX_BYTES = 64 * 2 ** 20

/**
 * Returns the command with a copy in place of each local `.vrt` and `.qgs` file that names URLs which the gateway would request: beside it,
 * with URLs of the gateway. The cleanups remove the copies, and write the original URLs into the files that the program has written.
 * Errors: `FILE_ACCESS`, `DISK_FULL` for a folder in which no copy can be written.
 */
export async function withSourcesServed(
  command: readonly string[],
  gateway: NamedServing,
  cleanups: (() => Promise<void>)[],
): Promise<readonly string[]> {
  const prepared: string[] = []
  for (const [index, argument] of command.entries()) {
    const isSource = index > 0 && NAMES_SOURCES.test(argument)
    prepared.push(isSource ? await servedFile(argument, `.stac-auth-${process.pid}-${index}-`, gateway, cleanups) : argument)
  }
  return prepared
}

async function servedFile(path: string, prefix: string, gateway: NamedServing, cleanups: (() => Promise<void>)[]): Promise<string> {
  const text = await textOf(path)
  const served = text === undefined ? undefined : await toGateway(text, gateway)
  const isCopied = served !== undefined && served !== text
  const used = isCopied ? join(dirname(path), `${prefix}${basename(path)}`) : path
  if (isCopied) await writeNew(used, served)
  cleanups.push(async () => {
    const after = await textOf(used)
    if (isCopied) await rm(used, { force: true })
    if (after === undefined || after === (isCopied ? served : text)) return
    const original = fromGateway(after, gateway.base)
    if (!isCopied && (gateway.isNamed || original === after)) return
    await writeFile(path, original).catch((error: unknown) => {
      throw writeFailure(error, `"${path}"`)
    })
  })
  return used
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(text).finally(() => file.close())
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
  } catch (error) {
    throw writeFailure(error, `"${path}", a copy for the time of the run`)
  }
}

/** Returns the text of a file; undefined for a file that does not exist, is not UTF-8, or is too long. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    const bytes = await readFile(path)
    return bytes.length > MAX_BYTES ? undefined : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError || ['ENOENT', 'EISDIR', 'EACCES', 'ENOTDIR'].includes(systemCode(error))) return undefined
    throw error
  }
}

/** A URL, or a file name of GDAL for an object; where it ends, a string or an element of XML ends. */
const SOURCES = /\/vsi(?:s3|gs)\/[^\s"'<>|?]+|https?:\/\/[^\s"'<>|]+/g

/** Returns the text with URLs of the gateway for those that it would request. */
export async function toGateway(text: string, { base, urlFor, allows }: Serving): Promise<string> {
  const replaced = new Map<string, string>()
  for (const [found] of text.matchAll(SOURCES)) {
    if (replaced.has(found) || found.startsWith(base)) continue
    const store = /^\/vsi(s3|gs)\//.exec(found)
    const url = decoded(store ? found.replace(store[0], `${store[1]}://`) : found)
    if (canParseUrl(url) && (await allows(url))) replaced.set(found, store ? `/vsicurl/${urlFor(url)}` : urlFor(url))
  }
  return text.replace(SOURCES, (found) => replaced.get(found) ?? found)
}

/** Returns the text with the original URLs. */
export function fromGateway(text: string, base: string): string {
  const served = new RegExp(`(/vsicurl/)?${base.replace(/[.[\]]/g, '\\$&')}([^\\s"'<>|]+)`, 'g')
  return text.replace(served, (all, prefix: string | undefined, path: string) => {
    const { url } = readGatewayPath(`/capability/${decoded(path)}`)
    if (url === undefined) return all
    const isObject = prefix !== undefined && url.startsWith('s3://')
    return encoded(isObject ? url.replace('s3://', '/vsis3/') : `${prefix ?? ''}${url}`)
  })
}

/** The characters that XML writes as entities. */
const ENTITIES = { '&amp;': '&', '&apos;': "'", '&quot;': '"', '&lt;': '<', '&gt;': '>' } as const

function decoded(text: string): string {
  return text.replace(/&(?:amp|apos|quot|lt|gt);/g, (entity) => ENTITIES[entity as keyof typeof ENTITIES])
}

function encoded(text: string): string {
  return text.replace(/[&'"<>]/g, (char) => Object.entries(ENTITIES).find(([, one]) => one === char)?.[0] ?? char)
}
