/** Finds public buckets whose targets refer to an `s3` scheme. */

import type { Auth } from '../../../auth/auth.ts'
import { isAuthError } from '../../../errors.ts'
import { exchangeTimeout } from '../../../http/network-error.ts'
import { withTimeout } from '../../../net/cancellation.ts'
import { own, ownString } from '../../../stac/document.ts'
import { storagesOf } from '../../../stac/storage.ts'
import { findScheme, schemeMaps, type Target, targetsOf } from '../../../stac/target.ts'
import { placeKey, placeOf, type SigningAddress } from '../../../strategies/s3/endpoint.ts'
import { canParseUrl } from '../../../text/can-parse-url.ts'
import type { OnlineCheck, OnlineDocument, OnlineFinding } from './online-linter.ts'

/** Limit of the buckets checked in one run, because documents of others name them. */
const MOST = 200

/** Timeout of a request in milliseconds. */
const TIMEOUT = 10_000

/** Checks each bucket once with a request for one of its objects, and caches the result. */
export class PublicBuckets implements OnlineCheck {
  readonly codes = ['s3-public-bucket'] as const
  #unknown = 0
  readonly #auth: () => Promise<Auth>
  readonly #signal: AbortSignal
  readonly #answers = new Map<string, Promise<boolean | undefined>>()

  /** @param auth an `Auth` without credentials */
  constructor(auth: () => Promise<Auth>, signal: AbortSignal) {
    this.#auth = auth
    this.#signal = signal
  }

  /** Returns the targets of a document that refer to an `s3` scheme but are public. */
  async in({ document, at, parents, url }: OnlineDocument): Promise<readonly OnlineFinding[]> {
    const found: OnlineFinding[] = []
    for (const target of targetsOf(document, { parents, ...(url !== undefined && { url }) })) {
      const place = refersToS3(target) ? placeIn(target) : undefined
      if (!place || !(await this.#isPublic(place))) continue
      const pointer = `${at}${target.refsOf.pointer}/auth:refs`
      found.push({ code: 's3-public-bucket', pointer, data: { bucket: place.bucket }, id: ownString(target.scope.document, 'id') })
    }
    return found
  }

  get note(): string | undefined {
    return this.#unknown === 0 ? undefined : `s3-public-bucket: ${this.#unknown} buckets gave no conclusive response`
  }

  async #isPublic(place: SigningAddress): Promise<boolean> {
    const key = placeKey(place)
    const answer = this.#answers.get(key) ?? (this.#answers.size < MOST ? this.#ask(place) : Promise.resolve(undefined))
    if (!this.#answers.has(key)) {
      this.#answers.set(key, answer)
      if ((await answer) === undefined) this.#unknown++
    }
    return (await answer) === true
  }

  /** Requests the object; undefined if the response is inconclusive. A redirect to another path does not count. */
  async #ask({ url, path }: SigningAddress): Promise<boolean | undefined> {
    const { signal, clear } = withTimeout(this.#signal, TIMEOUT, () => exchangeTimeout(url, TIMEOUT))
    try {
      const response = await (await this.#auth()).fetch(url, { method: 'HEAD', signal })
      await response.body?.cancel()
      if (response.status >= 500) return undefined
      return response.ok && new URL(response.url || url).pathname.endsWith(path)
    } catch (error) {
      if (isAuthError(error)) return undefined
      throw error
    } finally {
      clear()
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
