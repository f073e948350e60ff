/** Files that are there already: which of them stay. */
import { type AuthError, abortedBy, IntegrityError, isAuthError } from '../../errors.ts'
import { type BodyPromise, looksLikePage, PAGE_HEAD, promisedKind } from '../../http/web-page.ts'
import { bodyPromise } from '../page-refusal.ts'
import type { DownloadFile, KeptEvent, Verification } from './events.ts'
import type { PlannedFile } from './file-plan.ts'
import { headOf, presentFile } from './present-file.ts'
import { askServer, differenceFrom } from './server-facts.ts'
import { targetAddress } from './target-address.ts'
import { promiseOf, verifyPresent } from './verification.ts'
import type { World } from './world.ts'

/** A file under the name that it has here; `base` is the one that was planned, where that has no suffix. */
export interface NamedFile extends PlannedFile {
  readonly base?: string
}

/**
 * A file that is there and stays, for nothing speaks against it: its document, what an earlier run has noted, and with `verify` its server.
 *
 * @param size bytes that its server says it has
 *
 * Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`; with `verify` those of {@link askServer}.
 */
export async function keptFile(
  planned: NamedFile,
  existing: World['settings']['existing'],
  world: World,
  size?: number,
): Promise<KeptEvent | undefined> {
  const { file } = planned
  const present = presentFile(file.path)
  if (!present || existing === 'replace') return undefined
  if (existing === 'refuse') throw inTheWay(file, 'exists already')
  if (size !== undefined && size !== present.size)
    throw inTheWay(file, `is there already and has ${present.size} bytes; its server has ${size}`)
  const verified = await verifiedHere(planned, present.size, world)
  const byServer = world.settings.verify && planned.repeats === undefined ? await verifiedThere(planned, present.size, world) : []
  const problem = await world.record.kept(file, present.size, hadQuery(planned))
  if (problem) world.tell({ kind: 'warning', file, code: problem.code, message: `${problem.message}; ${UNNOTED}` })
  return { kind: 'kept', file, bytes: present.size, verified: [...verified, ...byServer] }
}

/** What follows where nothing can be noted about files. */
export const UNNOTED = 'a later run cannot tell whether its files have changed since'

/** What the document and the name of a file promise; its media type may be that of the asset, where an alternate says nothing. */
export function promisedBody({ file, wanted: { targets, type } }: PlannedFile): BodyPromise {
  const promise = bodyPromise(targets[0], [file.name])
  return type === undefined ? promise : { ...promise, type }
}

/** True when the URL of a file has a query, which is not noted. */
export function hadQuery({ wanted: { targets } }: PlannedFile): boolean {
  return targets[0].href.includes('?')
}

async function verifiedHere(planned: NamedFile, bytes: number, { record, settings }: World): Promise<readonly Verification[]> {
  const { file, base } = planned
  const owner = record.suffixes.baseOf(file.name)
  if (owner !== undefined && owner !== base) throw inTheWay(file, `is there already and is another file, which was planned as "${owner}"`)
  const verified = await verifyPresent(file.path, bytes, promiseOf(planned.wanted))
  if (!verified) throw inTheWay(file, 'is there already and is not what its document promises')
  if (verified.includes('checksum')) return verified
  const entry = record.known(file)
  const difference = entry && (await record.difference(entry, file.path))
  if (difference !== undefined) throw inTheWay(file, `is there already and is not what was downloaded: ${difference}`)
  const isPage = !settings.acceptHtml && promisedKind(promisedBody(planned)) === 'other' && isPageFile(file.path)
  if (isPage) throw inTheWay(file, 'is there already and is a web page: an earlier run may have saved a login page')
  return entry ? [...verified, 'manifest'] : verified
}

/** The first of its servers that answers decides. */
async function verifiedThere(planned: PlannedFile, size: number, world: World): Promise<readonly Verification[]> {
  const { file, wanted } = planned
  const { gate } = world.origins
  let first: AuthError | undefined
  for (const [index, target] of wanted.targets.entries()) {
    const { bare: url, origin } = targetAddress(target)
    await gate.enter(origin, world.signal)
    try {
      const { retries } = world.settings
      const send = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => world.send(target, headers, signal)
      const facts = await askServer({ ...world, send, url, target, promise: promisedBody(planned), retries })
      // The validators that were noted are those of the first URL.
      const { etag, lastModified } = (index === 0 && world.record.known(file)) || {}
      const noted = { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) }
      const difference = await differenceFrom(facts, { path: file.path, size, ...noted })
      if (difference === 'unknown') return []
      if (difference !== undefined) throw inTheWay(file, `is there already and is not what its server has: ${difference}`)
      return ['server']
    } catch (error) {
      if (world.signal.aborted) throw abortedBy(world.signal)
      if (!isAuthError(error) || error.code === 'PATH_EXISTS') throw error
      first ??= error
    } finally {
      gate.leave(origin)
    }
  }
  throw first
}

function inTheWay({ name }: DownloadFile, problem: string): IntegrityError {
  return new IntegrityError('PATH_EXISTS', `"${name}" ${problem}`, { hint: 'remove it, or let it be replaced' })
}

function isPageFile(path: string): boolean {
  return looksLikePage(headOf(path, PAGE_HEAD), true) === true
}
