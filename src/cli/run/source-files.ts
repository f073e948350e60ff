/** Files among the arguments of a program that name their sources, such as a VRT: for the time of a run these are URLs of the gateway. */
import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { systemCode, writeFailure } from '../../node/base/index.ts'
import { type Gateway, readGatewayPath } from '../../node/gateway/index.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'

type Serving = Pick<Gateway, 'base' | 'urlFor' | 'allows'>

export interface SourceFileOptions {
  /** True leaves URLs of the gateway in files that the program writes: they stay valid. */
  readonly isNamed: boolean
}

/** The program with its arguments, and what to do when it has ended. */
export interface PreparedArguments {
  readonly command: readonly string[]
  /** Removes the copies; writes the original URLs into the files that the program has written. */
  restore(): Promise<void>
}

/** A virtual raster, and a project of QGIS. */
const NAMES_SOURCES = /\.(?:vrt|qgs)$/i

/** Bytes; longer files are passed as they are. */
const MAX_BYTES = 64 * 2 ** 20

/**
 * Replaces each local `.vrt` and `.qgs` file among the arguments that names URLs which the gateway would request by a copy beside it with
 * URLs of the gateway. Errors: `FILE_ACCESS`, `DISK_FULL` for a folder in which no copy can be written.
 */
export async function withSourcesServed(command: readonly string[], gateway: Serving & SourceFileOptions): Promise<PreparedArguments> {
  const restorers: (() => Promise<void>)[] = []
  const restore = async () => {
    for (const one of restorers.splice(0)) await one()
  }
  try {
    const changed: string[] = []
    for (const [index, argument] of command.entries()) {
      if (index === 0 || !NAMES_SOURCES.test(argument)) changed.push(argument)
      else changed.push(await prepared(argument, gateway, restorers))
    }
    return { command: changed, restore }
  } catch (error) {
    await restore()
    throw error
  }
}

async function prepared(path: string, gateway: Serving & SourceFileOptions, restorers: (() => Promise<void>)[]): Promise<string> {
  const text = await textOf(path)
  const served = text === undefined ? undefined : await toGateway(text, gateway)
  const isCopied = served !== undefined && served !== text
  const used = isCopied ? join(dirname(path), `.stac-auth-${process.pid}-${restorers.length}-${basename(path)}`) : path
  if (isCopied) {
    restorers.push(() => rm(used, { force: true }))
    await writeNew(used, served)
  }
  const given = isCopied ? served : text
  const failed = (error: unknown) => {
    throw writeFailure(error, `"${path}"`)
  }
  restorers.unshift(async () => {
    const after = await textOf(used)
    if (after === undefined || after === given) return
    const original = fromGateway(after, gateway.base)
    if (isCopied || (!gateway.isNamed && original !== after)) await writeFile(path, original).catch(failed)
  })
  return used
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.writeFile(text).finally(() => file.close())
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
