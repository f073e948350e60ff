/** One entry for one service: the programs that speak to an API choose once, not for each request. */
import { CredentialError } from '../errors.ts'
import type { HttpRequest, HttpResponse, Send } from '../http/message.ts'
import type { AuthorizedCall, Service } from './auth.ts'
import { type Choice, checkReach, coversTarget } from './choice.ts'
import { contextOf, type World } from './context.ts'
import { runFlow } from './drive.ts'
import type { AuthFlow, Leg } from './flow.ts'
import type { Session } from './session.ts'

/** What an engine has for the addresses below one base. */
export class ServiceOf implements Service {
  readonly credential: string
  readonly granted: boolean
  readonly #world: World
  readonly #choice: Choice
  readonly #session: Session
  /** What every address under a whole granted origin begins with; empty where each has to be looked at. */
  readonly #granted: string

  constructor(world: World, choice: Choice, base: URL) {
    this.credential = choice.credential.id
    this.granted = world.named.has(base.origin)
    this.#world = world
    this.#choice = choice
    this.#session = world.sessions.view(choice.credential.id)
    this.#granted = coversTarget(choice, new URL('/', base)) ? `${base.origin}/` : ''
  }

  peek(request: HttpRequest): HttpRequest | undefined {
    const { strategy, scheme, credential } = this.#choice
    const { clock } = this.#world
    const leg = strategy.peek?.(request, { scheme, credential, session: this.#session, clock, resource: { url: request.url } })
    if (!leg || leg.connection) return undefined
    this.#checkReach(leg.request.url)
    return leg.request
  }

  async send(request: HttpRequest, send: Send, { signal, refused }: AuthorizedCall = {}): Promise<HttpResponse> {
    const choice = this.#choice
    const context = contextOf(this.#world, choice, { url: request.url }, { signal })
    const flow = choice.strategy.authorize(request, context)
    const sendLeg = (leg: Leg) => {
      this.#checkReach(leg.request.url)
      const by = leg.connection ? leg.connection.send : send
      return by(leg.request, { granted: this.granted, ...(signal && { signal }) })
    }
    const result = await runFlow(refused ? resumed(flow, refused) : flow, sendLeg)
    if (result) return result.response
    if (refused) return refused.response
    throw new CredentialError('CREDENTIAL_SOURCE', `"${this.credential}" gave no authorization for ${new URL(request.url).origin}`, {
      credential: this.credential,
    })
  }

  #checkReach(url: string): void {
    if (this.#granted === '' || !url.startsWith(this.#granted)) checkReach(this.#choice, url)
  }
}

/** The flow as it goes on after its first request was sent and refused already; one that begins otherwise is sent. */
async function* resumed(flow: AuthFlow, { request, response }: NonNullable<AuthorizedCall['refused']>): AuthFlow {
  try {
    let step = await flow.next(undefined as never)
    if (!step.done && sameRequest(step.value.request, request)) step = await flow.next(response)
    while (!step.done) step = await flow.next(yield step.value)
  } finally {
    await flow.return()
  }
}

function sameRequest(one: HttpRequest, other: HttpRequest): boolean {
  const names = Object.keys(one.headers)
  return (
    one.url === other.url &&
    names.length === Object.keys(other.headers).length &&
    names.every((name) => one.headers[name] === other.headers[name])
  )
}
