/**
 * A flow is one request's way to its authorization: an async generator that yields a leg, is given the answer, and
 * yields the next. Only legs of the resource request are yielded; tokens and signing APIs go through `context.send`.
 */
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
