/** Whether a file that exists already is the one to download: it is compared with its document, the manifest and its server. */

import { type AuthError, abortedBy, IntegrityError, isAuthError } from '../../errors.ts'
import { FILE_HEAD } from '../file-formats.ts'
import { misfitOf, type PromisedFile, promisedFile } from '../promised-file.ts'
import { promiseOf } from './checksums.ts'
import type { DownloadFile, KeptEvent, Verification } from './download.ts'
import type { DownloadContext } from './download-context.ts'
import type { PlannedFile } from './file-plan.ts'
import { originAndPath } from './selected-files.ts'
import { askServer, differenceFrom } from './server-facts.ts'

/** A file under its local name; `base` is the planned name, without a suffix. */
export interface NamedFile extends PlannedFile {
  readonly base?: string
}

/**
 * Returns the event of an existing file if it agrees with its document, with the manifest, and with `verify` with its server; undefined if
 * there is none, or if it is to be replaced.
 *
 * @param size size in bytes by the server
 *
 * Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`; with `verify` those of {@link askServer}.
 */
export async function keptFile(planned: NamedFile, context: DownloadContext, size?: number): Promise<KeptEvent | undefined> {
  const { file } = planned
  const { settings, folder, record } = context
  const existing = existingFor(planned, context)
  const present = await folder.present(file.path)
  if (!present || existing === 'replace') return undefined
  if (existing === 'refuse') throw inTheWay(file, 'exists already')
  if (size !== undefined && size !== present.size)
    throw inTheWay(file, `exists already and has ${present.size} bytes; the server has ${size}`)
  const verified = await comparedHere(planned, present.size, context)
  const byServer = settings.verify && planned.repeats === undefined ? await comparedThere(planned, present.size, context) : []
  warnUnrecorded(file, await record.kept(file, present.size, hadQuery(planned)), context)
  return { kind: 'kept', file, bytes: present.size, verified: [...verified, ...byServer] }
}

/** Returns how an existing file is treated: one of the same download is kept. */
export function existingFor({ repeats }: PlannedFile, { settings }: DownloadContext): DownloadContext['settings']['existing'] {
  return repeats === undefined ? settings.existing : 'keep'
}

/** Warns that nothing can be recorded about files. */
export function warnUnrecorded(file: DownloadFile, problem: AuthError | undefined, { tell }: DownloadContext): void {
  const message = `${problem?.message}; a later run cannot tell whether its files have changed since`
  if (problem) tell({ kind: 'warning', file, code: problem.code, message })
}

/**
 * Returns what the document and the name say about a file; an alternate without a media type has that of its asset. For an object that its
 * store lists with a size, that size is the promise: names of objects are anyone's.
 */
export function promisedBody({ file, selected: { targets, type, folder, size } }: PlannedFile): PromisedFile {
  if (folder && size !== undefined) return { type: '', names: [], roles: [] }
  const promise = promisedFile(targets[0], [file.name])
  return type === undefined ? promise : { ...promise, type }
}

/** Returns true if the URL of a file has a query, which is not recorded. */
export function hadQuery({ selected: { targets } }: PlannedFile): boolean {
  return targets[0].href.includes('?')
}

async function comparedHere(
  planned: NamedFile,
  bytes: number,
  { folder, record, settings }: DownloadContext,
): Promise<readonly Verification[]> {
  const { file, base } = planned
  const owner = record.suffixes.baseOf(file.name)
  if (owner !== undefined && owner !== base) throw inTheWay(file, `exists already and is another file, which was planned as "${owner}"`)
  const { size, hash } = promiseOf(planned.selected)
  const hasSize = size === undefined || size === bytes
  const isStated = hasSize && (!hash || (await folder.digest(file.path, hash.algorithm)).startsWith(hash.digest))
  const entry = record.known(file)
  const isTrusted = settings.trustServer && entry?.unverified !== undefined
  if (!isStated && !isTrusted) throw inTheWay(file, 'exists already and does not match its document', entry?.unverified && TRUSTED)
  const verified: Verification[] = isStated && size !== undefined ? ['size'] : []
  if (isStated && hash) return [...verified, 'checksum']
  const difference = entry && (await record.difference(entry, file.path))
  if (difference !== undefined) throw inTheWay(file, `exists already and differs from what was downloaded: ${difference}`)
  if (!isStated) return ['manifest']
  const misfit = misfitOf(promisedBody(planned), await folder.head(file.path, FILE_HEAD), bytes <= FILE_HEAD)
  // A file of the manifest was compared when it arrived.
  if (misfit && misfit !== 'more' && !(misfit.kind === 'page' ? settings.acceptHtml : settings.trustServer || entry))
    throw inTheWay(file, `exists already and is ${misfit.words}: an earlier run may have saved a login page or an error`)
  return entry ? [...verified, 'manifest'] : verified
}

/** Asks the servers in order until one replies. */
async function comparedThere(planned: PlannedFile, size: number, context: DownloadContext): Promise<readonly Verification[]> {
  const { file, selected } = planned
  const { limiter, settings, folder, record } = context
  const digest = (algorithm: string) => folder.digest(file.path, algorithm)
  let first: AuthError | undefined
  for (const [index, target] of selected.targets.entries()) {
    const { bare: url, origin } = originAndPath(target)
    await limiter.enter(origin, context.signal)
    try {
      const send = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => context.send(target, headers, signal)
      const facts = await askServer({ ...context, send, url, target, promise: promisedBody(planned), retries: settings.retries })
      // The recorded validators are those of the first URL.
      const difference = await differenceFrom(facts, { ...(index === 0 && record.known(file)), digest, size })
      if (difference === 'unknown') return []
      if (difference !== undefined) throw inTheWay(file, `exists already and differs from the file on its server: ${difference}`)
      return ['server']
    } catch (error) {
      if (context.signal.aborted) throw abortedBy(context.signal)
      if (!isAuthError(error) || error.code === 'PATH_EXISTS') throw error
      first ??= error
    } finally {
      limiter.leave(origin)
    }
  }
  throw first
}

const REPLACE = 'remove it, or replace it with --existing replace'

const TRUSTED = `it was downloaded with --trust-server, which also keeps it; otherwise ${REPLACE}`

function inTheWay({ name }: DownloadFile, problem: string, hint = REPLACE): IntegrityError {
  return new IntegrityError('PATH_EXISTS', `"${name}" ${problem}`, { hint })
}
