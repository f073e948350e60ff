/** One file, from its servers to its place. */
import { type AuthError, abortedBy, isAuthError } from '../../errors.ts'
import { failure } from '../../http/network-error.ts'
import { AlreadyThere, checkBytes, type FileState, UnwantedSize } from './attempt.ts'
import { Content } from './content.ts'
import type { DownloadFile, FailedEvent, KeptEvent, SkippedEvent, Verification, WrittenEvent } from './events.ts'
import { fetchTarget } from './fetch-target.ts'
import type { PlannedFile } from './file-plan.ts'
import { hadQuery, keptFile, type NamedFile, promisedBody, UNNOTED } from './kept-file.ts'
import { presentFile } from './present-file.ts'
import { checkDigest, checkSize, type Promised, promiseOf } from './verification.ts'
import type { World } from './world.ts'

/** Fetches a file, or says why not. */
export async function transfer(planned: PlannedFile, world: World): Promise<WrittenEvent | KeptEvent | SkippedEvent | FailedEvent> {
  const { file, wanted, repeats } = planned
  const existing = repeats === undefined ? world.settings.existing : 'keep'
  const promised = promiseOf(wanted)
  const naming = new Naming(planned, existing, world)
  let content: Content | undefined
  let state: FileState | undefined
  try {
    const { hasPart } = await world.folder.prepare(file.path)
    const kept = await keptFile(naming.remembered(), existing, world)
    if (kept) return kept
    if (promised.unsupported) world.tell({ kind: 'warning', file, code: 'CHECKSUM_UNSUPPORTED', message: UNSUPPORTED })
    const onWait = (longest: number) => world.tell({ kind: 'warning', file, code: 'PATH_BUSY', message: waiting(longest) })
    content = await Content.open(file.path, world.hashes, {
      taken: hasPart,
      resume: world.settings.resume,
      wait: { signal: world.signal, onWait },
    })
    state = begun(planned, content, promised, naming.onSuffix)
    const verified = await fetchedInEitherCoding(planned, state, world)
    const sha256 = await content.digest('sha256')
    const { file: named, suffix } = naming.decided(state.suffix)
    await content.complete(existing === 'replace', named.path)
    const origin = { sha256, ...state.validators, hadQuery: hadQuery(planned), ...(suffix !== '' && { suffix }) }
    const problem = world.record.written(named, content.length, origin)
    if (problem) world.tell({ kind: 'warning', file, code: problem.code, message: `${problem.message}; ${UNNOTED}` })
    return { kind: 'written', file: named, bytes: content.length, received: state.received, verified }
  } catch (caught) {
    const thrown = caught instanceof AlreadyThere ? await naming.kept(caught).catch((error: unknown) => error) : caught
    if (isKept(thrown)) {
      await content?.close(false)
      return thrown
    }
    if (thrown instanceof UnwantedSize) {
      // A part of an earlier run, which had no such limit, stays.
      await content?.close(true)
      return { kind: 'skipped', file, size: thrown.size, received: state?.received ?? 0 }
    }
    const error = isAuthError(thrown) ? thrown : failure(thrown, world.signal, file.url)
    const resumable = (await content?.close(!state?.isWrong && error.code !== 'FILE_CHANGED')) ?? 0
    return { kind: 'failed', file, error, received: state?.received ?? 0, resumable }
  }
}

const UNSUPPORTED = 'its checksum is of a kind that cannot be compared here, or no multihash'

function waiting(longest: number): string {
  return `a process that cannot be asked (on another host, or in another container) may be downloading it: waits up to ${longest / 1000} s for a sign of it`
}

function isKept(event: unknown): event is KeptEvent {
  return typeof event === 'object' && event !== null && 'kind' in event && event.kind === 'kept'
}

/** The name of a file that may get a suffix from its server. What is there under the planned name keeps that one. */
class Naming {
  readonly #planned: PlannedFile
  readonly #existing: World['settings']['existing']
  readonly #world: World

  constructor(planned: PlannedFile, existing: World['settings']['existing'], world: World) {
    this.#planned = planned
    this.#existing = existing
    this.#world = world
  }

  /** The file under the name that an earlier run has given it, if it is there. Errors: `PATH_UNSAFE`, `FILE_ACCESS`. */
  remembered(): NamedFile {
    const { lacksSuffix, file } = this.#planned
    const suffix = lacksSuffix ? this.#world.record.suffixes.of(file.name, file.url) : undefined
    const { file: named } = suffix === undefined ? { file } : this.#with(suffix)
    return named !== file && presentFile(named.path) ? this.#as(named) : this.#planned
  }

  /** Errors: {@link AlreadyThere}, `PATH_UNSAFE`, `FILE_ACCESS`. */
  readonly onSuffix = (suffix: string, size: number | undefined): void => {
    const { file } = this.#with(suffix)
    if (file !== this.#planned.file && this.#existing !== 'replace' && presentFile(file.path)) {
      this.#world.record.proposed(this.#planned.file, suffix)
      throw new AlreadyThere(size)
    }
  }

  /** What is noted before the file has its name leads a later run to it. */
  decided(suffix: string): { readonly file: DownloadFile; readonly suffix: string } {
    const decided = this.#with(suffix)
    if (decided.suffix !== '') this.#world.record.proposed(this.#planned.file, suffix)
    return decided
  }

  /** The file that is there. Errors: as of {@link keptFile}. */
  async kept({ size }: AlreadyThere): Promise<KeptEvent | undefined> {
    return keptFile(this.remembered(), this.#existing, this.#world, size)
  }

  #as(file: DownloadFile): NamedFile {
    return { ...this.#planned, file, base: this.#planned.file.name }
  }

  #with(suffix: string): { readonly file: DownloadFile; readonly suffix: string } {
    const { file, lacksSuffix } = this.#planned
    const isFree = lacksSuffix && suffix !== '' && !presentFile(file.path)
    const named = isFree ? this.#world.plan.withSuffix(this.#planned, suffix) : undefined
    return named ? { file: named, suffix } : { file, suffix: '' }
  }
}

function begun(planned: PlannedFile, content: Content, { hash }: Promised, onSuffix: FileState['onSuffix']): FileState {
  const { file } = planned
  return {
    file,
    promise: promisedBody(planned),
    sizeLimits: planned.wanted.sizeLimits ?? {},
    content,
    hash: hash && { known: hash, by: 'checksum' },
    validators: {},
    size: undefined,
    asSent: undefined,
    received: 0,
    most: content.total,
    changes: 0,
    page: undefined,
    whole: false,
    isWrong: false,
    alone: false,
    hasStarted: false,
    toldAt: Number.NEGATIVE_INFINITY,
    suffix: '',
    onSuffix,
  }
}

/**
 * What the document promises may be about the file as it is sent, or as it is without its content coding: where one of them is not what was
 * promised, the other one is tried, once.
 *
 * Errors: those of the first one.
 */
async function fetchedInEitherCoding(planned: PlannedFile, state: FileState, world: World): Promise<readonly Verification[]> {
  const fetched = async () => {
    await fromAnyTarget(planned, state, world)
    return verify(state)
  }
  try {
    return await fetched()
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'FILE_INTEGRITY' || error === state.page || state.asSent === undefined) throw error
    state.asSent = !state.asSent
    state.isWrong = false
    state.size = undefined
    if (state.hash?.by === 'digest') state.hash = undefined
    await state.content.reset()
    world.tell({ kind: 'retry', file: state.file, error, delay: 0, attempt: 1 })
    return await fetched().catch((second) => {
      throw isAuthError(second) && second.code === 'FILE_INTEGRITY' ? error : second
    })
  }
}

/** The targets in turn, the next one when one cannot be had. Errors: that of the first one. */
async function fromAnyTarget({ file, wanted: { targets } }: PlannedFile, state: FileState, world: World): Promise<void> {
  let first: AuthError | undefined
  for (const [index, target] of targets.entries()) {
    try {
      await fetchTarget(target, state, world)
      // They are compared with what the first URL says.
      if (index > 0) state.validators = {}
      return
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

/** Errors: `FILE_INTEGRITY`, `LOGIN_PAGE`. */
async function verify(state: FileState): Promise<readonly Verification[]> {
  const { file, content, size, hash, page } = state
  await content.flush()
  checkBytes(state, () => checkSize(file, content.length))
  const verified: Verification[] = file.size !== undefined ? ['size'] : size !== undefined ? ['length'] : []
  if (!hash) return verified
  const digest = await content.digest(hash.known.algorithm)
  checkBytes(state, () => {
    if (page && !digest.startsWith(hash.known.digest)) throw page
    checkDigest(file, hash.known, digest, hash.by)
  })
  return [...verified, hash.by]
}
