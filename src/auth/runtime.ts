/** The half of the engine that sends: loaded with the first request that needs it. */
import { platform } from '#platform'
import { TrustError } from '../errors.ts'
import { addressOf, isAddressProblem } from '../http/address.ts'
import { failure } from '../http/deadline.ts'
import type { HttpRequest, HttpResponse, SendOptions, Transport } from '../http/message.ts'
import type { Target } from '../stac/target.ts'
import type { AuthorizeOptions } from './auth.ts'
import type { Choice } from './choice.ts'
import type { Chooser } from './chooser.ts'
import { contextOf, sendLeg, type World } from './context.ts'
import type { AuthOptions } from './create-auth.ts'
import { authorizedLeg } from './drive.ts'
import { Exchange } from './exchange.ts'
import type { Leg } from './flow.ts'
import { requestOf } from './requests.ts'
import { hrefOf } from './resource.ts'
import { Unusable } from './select.ts'
import { MemorySessions, type Session } from './session.ts'
import type { Clock } from './strategy.ts'

export class Runtime {
  readonly #world: World
  readonly #chooser: Chooser
  readonly #exchange: Exchange
  readonly #anonymous: 'allow' | undefined

  constructor(chooser: Chooser, clock: Clock, options: AuthOptions) {
    const { transport, redirects = 'follow', anonymous, onWarning = () => {}, onUse = () => {} } = options
    this.#chooser = chooser
    this.#anonymous = anonymous
    this.#world = {
      transport: transport ? withOurErrors(transport) : lazyTransport(),
      sessions: new MemorySessions(clock),
      clock,
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
      warn: onWarning,
      used: onUse,
      named: chooser.named,
      entry: (id) => chooser.own.find(({ credential }) => credential.id === id),
    }
    this.#exchange = new Exchange(this.#world, chooser, redirects)
  }

  /** The session of an entry, for a look at what is there. */
  session(credential: string): Session {
    return this.#world.sessions.view(credential)
  }

  /** Runs the entry's flow as far as its authorized leg; undefined when the server asked for nothing. */
  authorize(request: HttpRequest, choice: Choice, target: Target, { signal, presign }: AuthorizeOptions): Promise<Leg | undefined> {
    const context = contextOf(this.#world, choice, { url: request.url, target, presign }, { signal, unsent: true })
    return authorizedLeg(choice.strategy.authorize(request, context), (leg) => sendLeg(this.#world, choice, leg, { signal }))
  }

  async fetchTarget(target: Target, init: RequestInit): Promise<Response> {
    const url = this.#chooser.addressOf(target)
    const selections = this.#chooser.select(target, url, this.#anonymous)
    if (selections instanceof Unusable) throw await selections.error()
    return this.#exchange.fetch(await requestOf(hrefOf(url), undefined, init), { target, selections }, init)
  }

  /** For an address that the caller wrote, not a catalog. Errors: `URL_*`. */
  async fetchAddress(input: string | URL | Request, init: RequestInit): Promise<Response> {
    const request = typeof input === 'object' && !(input instanceof URL) ? input : undefined
    const url = addressOf(request ? request.url : String(input), { secure: false, named: this.#chooser.named })
    if (isAddressProblem(url)) throw new TrustError(url.code, `the address ${url.message}`)
    const signal = init.signal ?? request?.signal
    const redirect = init.redirect ?? request?.redirect
    return this.#exchange.fetch(
      await requestOf(hrefOf(url), request, init),
      { selections: this.#exchange.byAddress(url) },
      { ...init, signal, redirect },
    )
  }
}

/** A transport of the caller's may throw anything, and what it throws may hold the request. */
function withOurErrors(theirs: Transport): Transport {
  const send = async (request: HttpRequest, options?: SendOptions): Promise<HttpResponse> => {
    try {
      return await theirs(request, options)
    } catch (error) {
      throw failure(error, options?.signal, request.url)
    }
  }
  return Object.assign(send, theirs.connect && { connect: theirs.connect })
}

/** The platform's transport is loaded by the first request. */
function lazyTransport(): Transport {
  let transport: Promise<Transport> | undefined
  const send = async (request: HttpRequest, options?: SendOptions) => {
    transport ??= platform.defaultTransport()
    return (await transport)(request, options)
  }
  return Object.assign(send, platform.connect && { connect: platform.connect })
}
