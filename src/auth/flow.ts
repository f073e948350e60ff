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
export interface Leg {
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

export type AuthFlow = AsyncGenerator<Leg, void, HttpResponse>

/** A leg that only negotiates. */
export const handshake = (request: HttpRequest): Leg => ({ kind: 'handshake', request })

/** The leg that carries the authorization. */
export const authorized = (request: HttpRequest, expiresAt?: number): Leg =>
  expiresAt === undefined ? { kind: 'authorized', request } : { kind: 'authorized', request, expiresAt }

/** Turns a plain signing function into a flow of one leg. */
export function oneLeg<Context>(sign: (request: HttpRequest, context: Context) => HttpRequest | Promise<HttpRequest>) {
  return async function* (request: HttpRequest, context: Context): AuthFlow {
    yield authorized(await sign(request, context))
  }
}

/** More legs than any scheme needs. */
const MAX_LEGS = 8

type SendLeg = (leg: Leg) => Promise<HttpResponse>

/** The first authorized leg, unsent; undefined when the server asked for nothing. */
export async function authorizedLeg(flow: AuthFlow, send: SendLeg): Promise<Leg | undefined> {
  try {
    let step = await flow.next(undefined as never)
    for (let legs = 1; !step.done && step.value.kind !== 'authorized'; legs++) {
      const response = await sent(step.value, legs, send)
      step = await flow.next(response)
      await response.discard()
    }
    return step.done ? undefined : step.value
  } finally {
    await flow.return()
  }
}

/** The last answer of a flow and the request that got it; undefined when the flow sent nothing. */
export async function runFlow(flow: AuthFlow, send: SendLeg): Promise<{ leg: Leg; response: HttpResponse } | undefined> {
  let last: { leg: Leg; response: HttpResponse } | undefined
  try {
    let step = await flow.next(undefined as never)
    for (let legs = 1; !step.done; legs++) {
      await last?.response.discard()
      const leg = step.value
      last = { leg, response: await sent(leg, legs, send) }
      step = await flow.next(last.response)
    }
    return last
  } catch (error) {
    await last?.response.discard()
    throw error
  } finally {
    await flow.return()
  }
}

function sent(leg: Leg, legs: number, send: SendLeg): Promise<HttpResponse> {
  if (legs <= MAX_LEGS) return send(leg)
  throw new CredentialError('AUTH_REJECTED', `${originOf(leg.request)} kept asking: more than ${MAX_LEGS} rounds`, { url: leg.request.url })
}

function originOf({ url }: HttpRequest): string {
  return new URL(url).origin
}
