/** Sends requests without a credential to the services that documents name, and says what came back. */

import type { Auth } from '../../../auth/auth.ts'
import { mediaType } from '../../../http/headers.ts'
import { readBody } from '../../../http/message.ts'
import { exchangeTimeout, failure } from '../../../http/network-error.ts'
import { withTimeout } from '../../../net/cancellation.ts'
import { isObject, type JsonObject } from '../../../stac/document.ts'
import { forUrl } from '../../../text/sanitize.ts'
import { jsonIn } from '../../read-document.ts'

/** A request that a client sends before it logs in. */
export interface Question {
  readonly method: 'GET' | 'POST' | 'OPTIONS'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A response, or why there is none. */
export type Answer =
  | { readonly failed: string }
  | {
      readonly failed?: never
      readonly status: number
      /** Status and media type, for messages. */
      readonly text: string
      readonly json: JsonObject | undefined
      readonly allowsOrigin: boolean
      /** Names in `Access-Control-Allow-Headers`, in lower case. */
      readonly allowedHeaders: readonly string[]
    }

/** The page whose requests servers are asked to allow. No such host exists. */
const PAGE = 'https://page.example'

/** Limit of the requests of one run, because documents of others name the URLs. */
const MOST = 500

/** Timeout of a request in milliseconds. */
const TIMEOUT = 10_000

/** Limit of a response in bytes, as for the discovery documents of a login. */
const MOST_BYTES = 1024 * 1024

/** Sends each request once in a run. Redirects are not followed: clients follow none from these services. */
export class Asker {
  /** Number of requests that were not sent because of the limit. */
  unasked = 0
  readonly #auth: () => Promise<Auth>
  readonly #signal: AbortSignal
  readonly #answers = new Map<string, Promise<Answer | undefined>>()

  /** @param auth an `Auth` without credentials */
  constructor(auth: () => Promise<Auth>, signal: AbortSignal) {
    this.#auth = auth
    this.#signal = signal
  }

  /** Returns undefined above the limit. */
  ask(question: Question): Promise<Answer | undefined> {
    const key = `${question.method} ${question.url} ${question.headers?.['access-control-request-headers'] ?? ''}`
    const known = this.#answers.get(key)
    if (known) return known
    if (this.#answers.size >= MOST) this.unasked++
    const answer = this.#answers.size < MOST ? this.#send(question) : Promise.resolve(undefined)
    if (this.#answers.size < MOST) this.#answers.set(key, answer)
    return answer
  }

  async #send({ method, url, headers = {}, body }: Question): Promise<Answer> {
    const { signal, clear } = withTimeout(this.#signal, TIMEOUT, () => exchangeTimeout(url, TIMEOUT))
    try {
      const all = { accept: 'application/json', origin: PAGE, ...headers }
      const response = await (await this.#auth()).fetch(url, {
        method,
        headers: all,
        redirect: 'manual',
        signal,
        ...(body !== undefined && { body }),
      })
      const bytes = response.body ? await readBody(response.body as unknown as AsyncIterable<Uint8Array>, MOST_BYTES, url) : undefined
      const json = bytes && jsonIn(bytes)
      const allowed = response.headers.get('access-control-allow-origin')
      return {
        status: response.status,
        text: textOf(response),
        json: isObject(json) ? json : undefined,
        allowsOrigin: allowed === '*' || allowed === PAGE,
        allowedHeaders: (response.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/[\s,]+/),
      }
    } catch (error) {
      if (this.#signal.aborted) throw error
      const { message, code } = failure(error, signal, url)
      return { failed: `${message} (${code})` }
    } finally {
      clear()
    }
  }
}

/** Maximum length of a URL in a message. */
const LONGEST = 200

/** Returns a URL for messages: without values of its query, and cut if it is long, because servers write it too. */
export function shortUrl(url: string): string {
  const text = forUrl(url)
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

function textOf({ status, headers }: Response): string {
  const location = headers.get('location')
  if (location !== null) return `${status} with a redirect to ${shortUrl(location)}`
  const type = mediaType(headers.get('content-type')).slice(0, LONGEST)
  return type === '' ? String(status) : `${status} ${type}`
}
