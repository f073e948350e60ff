/**
 * The auth flow of one request: an async generator that yields a step, receives the response, and yields the next step.
 * Only steps of the target's request are yielded; token and signing requests go through `context.send`.
 */

import { CredentialError } from '../errors.ts'
import type { Connection, HttpRequest, HttpResponse } from '../http/message.ts'
import type { ObjectLocation } from '../stac/storage.ts'

/** The keys for programs that sign object store requests themselves. */
export interface ObjectKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  /** ISO 8601 in UTC; absent for keys that do not expire, and when unknown. */
  readonly expiresAt?: string
}

/** `handshake` only negotiates; `authorized` carries the authorization. */
export interface AuthStep {
  readonly kind: 'handshake' | 'authorized'
  readonly request: HttpRequest
  /** Epoch milliseconds after which this request is refused; absent when unknown. */
  readonly expiresAt?: number
  /** True when the URL was replaced by a signed one: no credentials are added to redirects from it. */
  readonly replaces?: boolean
  /** For object stores: the location of the object. */
  readonly location?: ObjectLocation
  /** For object stores, when the caller requested them. */
  readonly keys?: ObjectKeys
  /** The connection that it must be sent over. */
  readonly connection?: Connection
}

export type AuthFlow = AsyncGenerator<AuthStep, void, HttpResponse>

/** Returns a step that only negotiates. */
export const handshake = (request: HttpRequest): AuthStep => ({ kind: 'handshake', request })

/** Returns the step that carries the authorization. */
export const authorized = (request: HttpRequest, expiresAt?: number): AuthStep =>
  expiresAt === undefined ? { kind: 'authorized', request } : { kind: 'authorized', request, expiresAt }

/** Turns a signing function into a flow of one step. */
export function singleStep<Context>(sign: (request: HttpRequest, context: Context) => HttpRequest | Promise<HttpRequest>) {
  return async function* (request: HttpRequest, context: Context): AuthFlow {
    yield authorized(await sign(request, context))
  }
}

/** Above the number of steps of any scheme. */
const MAX_STEPS = 8

type SendStep = (step: AuthStep) => Promise<HttpResponse>

/** Returns the first authorized step, unsent; undefined when the server requested no authentication. */
export async function authorizedStep(flow: AuthFlow, send: SendStep): Promise<AuthStep | undefined> {
  try {
    let step = await flow.next(undefined as never)
    for (let steps = 1; !step.done && step.value.kind !== 'authorized'; steps++) {
      const response = await sent(step.value, steps, send)
      step = await flow.next(response)
      await response.discard()
    }
    return step.done ? undefined : step.value
  } finally {
    await flow.return()
  }
}

/** Returns the last response of a flow and its request; undefined when the flow sent nothing. */
export async function runFlow(flow: AuthFlow, send: SendStep): Promise<{ step: AuthStep; response: HttpResponse } | undefined> {
  let last: { step: AuthStep; response: HttpResponse } | undefined
  try {
    let next = await flow.next(undefined as never)
    for (let steps = 1; !next.done; steps++) {
      await last?.response.discard()
      const step = next.value
      last = { step, response: await sent(step, steps, send) }
      next = await flow.next(last.response)
    }
    return last
  } catch (error) {
    await last?.response.discard()
    throw error
  } finally {
    await flow.return()
  }
}

function sent(step: AuthStep, steps: number, send: SendStep): Promise<HttpResponse> {
  if (steps <= MAX_STEPS) return send(step)
  throw new CredentialError('AUTH_REJECTED', `authentication at ${originOf(step.request)} did not finish within ${MAX_STEPS} steps`, {
    url: step.request.url,
  })
}

function originOf({ url }: HttpRequest): string {
  return new URL(url).origin
}
