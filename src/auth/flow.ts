/**
 * A flow is one request's way to its authorization: an async generator that yields a leg, is given the answer, and
 * yields the next. Only legs of the resource request are yielded; tokens and signing APIs go through `context.send`.
 */

import { CredentialError } from '../errors.ts'
import type { Connection, HttpRequest, HttpResponse } from '../http/message.ts'
import type { ObjectLocation } from '../stac/storage.ts'

/** What a program needs that signs requests to an object store by itself. */
export interface ObjectKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** `handshake` only negotiates; `authorized` carries the authorization. */
export interface AuthStep {
  readonly kind: 'handshake' | 'authorized'
  readonly request: HttpRequest
  /** Epoch milliseconds after which this request is refused; absent when nobody knows. */
  readonly expiresAt?: number
  /** The address is another one, which opens by itself: nothing is added to what it leads to. */
  readonly replaces?: boolean
  /** For object stores: where the object lies. */
  readonly location?: ObjectLocation
  /** For object stores, when the caller asked for them. */
  readonly keys?: ObjectKeys
  /** The one that it must be sent over. */
  readonly connection?: Connection
}

export type AuthFlow = AsyncGenerator<AuthStep, void, HttpResponse>

/** A leg that only negotiates. */
export const handshake = (request: HttpRequest): AuthStep => ({ kind: 'handshake', request })

/** The leg that carries the authorization. */
export const authorized = (request: HttpRequest, expiresAt?: number): AuthStep =>
  expiresAt === undefined ? { kind: 'authorized', request } : { kind: 'authorized', request, expiresAt }

/** Turns a plain signing function into a flow of one leg. */
export function singleStep<Context>(sign: (request: HttpRequest, context: Context) => HttpRequest | Promise<HttpRequest>) {
  return async function* (request: HttpRequest, context: Context): AuthFlow {
    yield authorized(await sign(request, context))
  }
}

/** More legs than any scheme needs. */
const MAX_LEGS = 8

type SendLeg = (step: AuthStep) => Promise<HttpResponse>

/** The first authorized leg, unsent; undefined when the server asked for nothing. */
export async function authorizedStep(flow: AuthFlow, send: SendLeg): Promise<AuthStep | undefined> {
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

/** The last answer of a flow and the request that got it; undefined when the flow sent nothing. */
export async function runFlow(flow: AuthFlow, send: SendLeg): Promise<{ step: AuthStep; response: HttpResponse } | undefined> {
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

function sent(step: AuthStep, steps: number, send: SendLeg): Promise<HttpResponse> {
  if (steps <= MAX_LEGS) return send(step)
  throw new CredentialError('AUTH_REJECTED', `${originOf(step.request)} kept asking: more than ${MAX_LEGS} rounds`, {
    url: step.request.url,
  })
}

function originOf({ url }: HttpRequest): string {
  return new URL(url).origin
}
