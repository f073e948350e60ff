/** Finds public buckets whose targets refer to an `s3` scheme. */

import type { Auth } from '../../auth/auth.ts'
import { isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import type { Problem } from '../../lint/index.ts'
import { locate } from '../../lint/pointer.ts'
import { isObject, kindOf, own, ownString } from '../../stac/document.ts'
import { storagesOf } from '../../stac/storage.ts'
import { findScheme, schemeMaps, type Target, targetsOf } from '../../stac/target.ts'
import { placeKey, placeOf, type SigningAddress } from '../../strategies/s3/endpoint.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import type { Context } from '../context.ts'
import type { Task } from '../inputs/pieces.ts'
import { jsonIn } from '../read-document.ts'
import { loggedTransport } from '../request-log.ts'
import { byPosition } from './collector.ts'
import type { LintSettings } from './lint-run.ts'
import type { Linter, LintResult, TaskRules } from './linter.ts'
import { levelOf, runFinding } from './linter.ts'

/**
 * Adds findings about public buckets to those of a linter. Requests are anonymous, and private networks are only accessed for
 * the origins in `typed`.
 */
export function onlineLinter(inner: Linter, typed: readonly string[], settings: LintSettings, context: Context): Linter {
  const { io, diagnostics } = context
  const anonymous = async () => {
    const { createAuth } = await import('../../auth/create-auth.ts')
    return createAuth({ credentials: [], typed: typed.filter(isAddress), ...(await loggedTransport(context)) })
  }
  const buckets = new PublicBuckets(anonymous, io.signal)
  return {
    lint: async (task: Task, about: TaskRules): Promise<LintResult> => {
      const result = await inner.lint(task, about)
      const more = await problemsOf(task, about, buckets, settings)
      return more.length === 0 ? result : { ...result, problems: [...result.problems, ...more].sort(byPosition) }
    },
    isFull: () => inner.isFull(),
    close: async () => {
      if (buckets.unknown > 0) await diagnostics.note(`s3-public-bucket: ${buckets.unknown} buckets gave no conclusive response`)
      await inner.close()
    },
  }
}

async function problemsOf(
  task: Task,
  { document }: TaskRules,
  buckets: PublicBuckets,
  settings: LintSettings,
): Promise<readonly Problem[]> {
  if (levelOf('s3-public-bucket', document, settings) === 'off') return []
  const found = (await buckets.in(task)).flatMap(({ pointer, bucket, id }) =>
    runFinding('s3-public-bucket', { bucket }, { document, pointer, ...(id !== undefined && { id }) }, settings),
  )
  if (found.length === 0 || task.text === undefined) return found
  const text = typeof task.text === 'string' ? task.text.replace(/^\ufeff/, '') : new TextDecoder().decode(task.text)
  const pointers = found.map(({ pointer }) => pointer)
  const positions = locate(text, pointers)
  const before = (task.line ?? 1) - 1
  return found.map((problem) => {
    const position = positions.get(problem.pointer)
    return position ? { ...problem, ...position, line: position.line + before, endLine: position.endLine + before } : problem
  })
}

/** Limit of the buckets checked in one run, because documents of others name them. */
const MOST = 200

/** Timeout of a request in milliseconds. */
const TIMEOUT = 10_000

/** A target of a public bucket. */
interface PublicTarget {
  /** Pointer of its `auth:refs`. */
  readonly pointer: string
  readonly bucket: string
  /** The `id` of its document. */
  readonly id?: string
}

/** Checks each bucket once with a request for one of its objects, and caches the result. */
class PublicBuckets {
  /** Number of buckets without a conclusive response. */
  unknown = 0
  readonly #auth: () => Promise<Auth>
  readonly #signal: AbortSignal
  readonly #answers = new Map<string, Promise<boolean | undefined>>()

  /** @param auth an `Auth` without credentials */
  constructor(auth: () => Promise<Auth>, signal: AbortSignal) {
    this.#auth = auth
    this.#signal = signal
  }

  /** Returns the targets of a task that refer to an `s3` scheme but are public. */
  async in({ text, value, url, parents = [] }: Task): Promise<readonly PublicTarget[]> {
    const root = text === undefined ? value : jsonIn(text)
    const found: PublicTarget[] = []
    for (const [at, document] of Array.isArray(root) ? root.map((one, index) => [`/${index}`, one] as const) : [['', root] as const]) {
      if (!isObject(document) || kindOf(document) === 'unknown') continue
      for (const target of targetsOf(document, { parents, ...(url !== undefined && { url }) })) {
        const place = refersToS3(target) ? placeIn(target) : undefined
        if (!place || !(await this.#isPublic(place))) continue
        const id = ownString(target.scope.document, 'id')
        found.push({ pointer: `${at}${target.refsOf.pointer}/auth:refs`, bucket: place.bucket, ...(id !== undefined && { id }) })
      }
    }
    return found
  }

  async #isPublic(place: SigningAddress): Promise<boolean> {
    const key = placeKey(place)
    const answer = this.#answers.get(key) ?? (this.#answers.size < MOST ? this.#ask(place) : Promise.resolve(undefined))
    if (!this.#answers.has(key)) {
      this.#answers.set(key, answer)
      if ((await answer) === undefined) this.unknown++
    }
    return (await answer) === true
  }

  /** Requests the object; undefined if the response is inconclusive. A redirect to another path does not count. */
  async #ask({ url, path }: SigningAddress): Promise<boolean | undefined> {
    try {
      const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(TIMEOUT)])
      const response = await (await this.#auth()).fetch(url, { method: 'HEAD', signal })
      await response.body?.cancel()
      if (response.status >= 500) return undefined
      return response.ok && new URL(response.url || url).pathname.endsWith(path)
    } catch (error) {
      if (isAuthError(error)) return undefined
      throw error
    }
  }
}

function refersToS3(target: Target): boolean {
  const { object, refsOf, refs, scope, kind } = target
  const maps = schemeMaps(scope, { object, pointer: refsOf.pointer, describesItems: kind === 'item_asset' })
  return refs.some((ref) => own(findScheme(maps, ref)?.value, 'type') === 's3')
}

/** Returns bucket and key of a target from its document; undefined if its URL is not that of an object. */
function placeIn(target: Target): SigningAddress | undefined {
  if (!canParseUrl(target.href) || !/^(?:s3|https?):$/.test(new URL(target.href).protocol)) return undefined
  const nothing = { credential: {}, environment: {}, trusts: () => true, learned: () => undefined }
  const place = placeOf(target.href, { ...nothing, storages: storagesOf(target) })
  return place.bucket !== '' && place.path !== '' && canParseUrl(place.url) ? place : undefined
}
