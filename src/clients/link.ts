/** What a client needs for its first request and keeps for all others: transport, credential, limits. */
import type { Auth, Service } from '../auth/auth.ts'
import type { Collect } from '../http/collect.ts'
import type { Send, Transport } from '../http/message.ts'
import type { Channel, Platform } from '../platform/platform.ts'
import { CHANNELS, type EventName } from './events.ts'
import type { ServiceLimit, ServiceLimits } from './service-limits.ts'

/** The way to a service. */
export interface Link {
  readonly collect: Collect
  /** For answers that are streams. */
  readonly send: Send
  /** Absent for requests without a credential. */
  readonly service: Service | undefined
  /** The origin was named by the user: it may be a loopback or private address. */
  readonly granted: boolean
  /** The transport sends streams as they come. */
  readonly streams: boolean
  /** The limits of that name. */
  limits(name: string): ServiceLimit
  readonly channels: ReadonlyMap<EventName, Channel>
}

export interface LinkOptions {
  readonly origin: string
  /** The base address, for the choice of the entry. */
  readonly base: string
  readonly auth: Auth | undefined
  readonly transport: Transport | undefined
  readonly limits: ServiceLimits
  /** What tells credentials apart, without showing them: what it is made of. */
  readonly identity: object | string
  /** Without a credential: whether the user named the origin. */
  readonly granted: boolean
}

/** Loads the platform and its transport, and asks for the entry of the base address. Errors: `NO_CREDENTIAL`, `CONFIG_INVALID`. */
export async function openLink({ origin, base, auth, transport, limits, identity, granted }: LinkOptions): Promise<Link> {
  const { platform } = await import('#platform')
  const [service, chosen, mark] = await Promise.all([
    auth?.service(base),
    transport ?? limits.transport(() => platform.defaultTransport()),
    fingerprint(identity, platform),
  ])
  const collect = chosen.collect ?? (await import('./collect-over.ts')).collectOver(chosen)
  const known = new Map<string, ServiceLimit>()
  const opened = (name: string) => {
    const limit = limits.of(`${origin}\0${mark}\0${name}`)
    known.set(name, limit)
    return limit
  }
  const channels = CHANNELS.map((name) => [name, platform.channel(`stac-auth:${name}`)] as const)
  return {
    collect,
    streams: chosen.collect !== undefined,
    send: chosen,
    service,
    granted: service?.granted ?? granted,
    limits: (name) => known.get(name) ?? opened(name),
    channels: new Map(channels.flatMap(([name, channel]) => (channel ? [[name, channel] as const] : []))),
  }
}

/** Of this process only, so that a mark says nothing anywhere else. */
const KEY = crypto.randomUUID()
const numbers = new WeakMap<object, number>()
let last = 0

/** The same for the same text, or for the same object; the text cannot be found out from it. */
async function fingerprint(identity: object | string, platform: Platform): Promise<string> {
  if (typeof identity === 'string') return platform.sha256Hex(`${KEY}\0${identity}`)
  const known = numbers.get(identity)
  if (known !== undefined) return `#${known}`
  numbers.set(identity, ++last)
  return `#${last}`
}
