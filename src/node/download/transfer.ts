/** One file, from its servers to its place. */
import { type AuthError, abortedBy, IntegrityError, isAuthError } from '../../errors.ts'
import { failure } from '../../http/deadline.ts'
import { mediaType } from '../../http/media-type.ts'
import type { FileState } from './attempt.ts'
import { Content } from './content.ts'
import type { DownloadFile, FailedEvent, KeptEvent, Verification, WrittenEvent } from './events.ts'
import { fetchTarget } from './fetch-target.ts'
import type { PlannedFile } from './file-plan.ts'
import { presentFile } from './present-file.ts'
import { checkDigest, checkSize, type Promised, promiseOf, verifyPresent } from './verification.ts'
import type { World } from './world.ts'

/** Fetches a file, or says why not. */
export async function transfer(planned: PlannedFile, world: World): Promise<WrittenEvent | KeptEvent | FailedEvent> {
  const { file, wanted, repeats } = planned
  const existing = repeats === undefined ? world.settings.existing : 'keep'
  const promised = promiseOf(wanted)
  let content: Content | undefined
  let state: FileState | undefined
  try {
    const { hasPart } = await world.folder.prepare(file.path)
    const kept = await keptFile(file, promised, existing)
    if (kept) return kept
    if (promised.unsupported) world.tell({ kind: 'warning', file, code: 'CHECKSUM_UNSUPPORTED', message: UNSUPPORTED })
    content = await Content.open(file.path, world.hashes, { taken: hasPart, resume: world.settings.resume })
    state = begun(planned, content, promised)
    await fromAnyTarget(planned, state, world)
    const verified = await verify(state)
    await content.complete(existing === 'replace')
    return { kind: 'written', file, bytes: content.length, received: state.received, verified }
  } catch (thrown) {
    const error = isAuthError(thrown) ? thrown : failure(thrown, world.signal, file.url)
    const resumable = (await content?.close(mayGoOn(error))) ?? 0
    return { kind: 'failed', file, error, received: state?.received ?? 0, resumable }
  }
}

const UNSUPPORTED = 'its checksum is of a kind that cannot be compared here, or no multihash'

/** A file that is there and stays. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
async function keptFile(file: DownloadFile, promised: Promised, existing: World['settings']['existing']): Promise<KeptEvent | undefined> {
  const present = presentFile(file.path)
  if (!present || existing === 'replace') return undefined
  const verified = existing === 'keep' ? await verifyPresent(file.path, present.size, promised) : undefined
  if (verified) return { kind: 'kept', file, bytes: present.size, verified }
  const problem = existing === 'keep' ? 'is there already and is not what its document promises' : 'exists already'
  throw new IntegrityError('PATH_EXISTS', `"${file.name}" ${problem}`, { hint: 'remove it, or let it be replaced' })
}

function begun({ file, wanted: { type = '' } }: PlannedFile, content: Content, { hash }: Promised): FileState {
  return {
    file,
    type: mediaType(type),
    content,
    hash: hash && { known: hash, by: 'checksum' },
    size: undefined,
    received: 0,
    most: content.total,
    changes: 0,
    alone: false,
    hasStarted: false,
    toldAt: Number.NEGATIVE_INFINITY,
  }
}

/** The targets in turn, the next one when one cannot be had. Errors: that of the first one. */
async function fromAnyTarget({ file, wanted: { targets } }: PlannedFile, state: FileState, world: World): Promise<void> {
  let first: AuthError | undefined
  for (const [index, target] of targets.entries()) {
    try {
      return await fetchTarget(target, state, world)
    } catch (error) {
      if (world.signal.aborted) throw abortedBy(world.signal)
      if (!isAuthError(error) || isOurs(error)) throw error
      first ??= error
      if (index + 1 < targets.length)
        world.tell({ kind: 'warning', file, code: error.code, message: `${error.message}; the next address is tried` })
    }
  }
  throw first
}

/** What another address would not mend. */
function isOurs({ code }: AuthError): boolean {
  return /^(?:DISK_FULL|FILE_ACCESS|PATH_\w+|CONFIG_INVALID|CREDENTIAL_VALUE_INVALID|ABORTED)$/.test(code)
}

/** What was wrong about the bytes or their place is thrown away, and what is gone for good; time or a person may mend anything else. */
function mayGoOn({ code, retryable }: AuthError): boolean {
  if (code === 'FILE_CHANGED') return false
  return retryable || !/^(?:FILE_\w+|PATH_\w+|RANGE_INVALID|RESPONSE_\w+|CONTENT_\w+|HTTP_404|HTTP_410)$/.test(code)
}

/** Errors: `FILE_INTEGRITY`. */
async function verify({ file, content, size, hash }: FileState): Promise<readonly Verification[]> {
  await content.flush()
  checkSize(file, content.length)
  const verified: Verification[] = file.size !== undefined ? ['size'] : size !== undefined ? ['length'] : []
  if (!hash) return verified
  checkDigest(file, hash.known, await content.digest(hash.known), hash.by)
  return [...verified, hash.by]
}
