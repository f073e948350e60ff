/** The events of a client. An event without listeners costs nothing. */
import type { ErrorCode } from '../../errors.ts'
import type { Channel } from '../../platform/platform.ts'

/** What every event about a call says. Addresses have no query values, headers no secret ones. */
export interface CallEvent {
  /** Counts the calls of the process. */
  readonly id: number
  readonly operation: string
  readonly method: string
  readonly url: string
  /** From 1. */
  readonly attempt: number
  readonly tag?: unknown
}

/** The events and what they say. */
export interface ClientEvents {
  readonly request: CallEvent & { readonly headers: Readonly<Record<string, string>> }
  readonly response: CallEvent & {
    readonly status: number
    readonly traceId?: string
    readonly durationMs: number
    readonly bytes: number
  }
  readonly retry: CallEvent & { readonly reason: string; readonly delayMs: number }
  readonly queue: { readonly depth: number; readonly limit: number }
  readonly warning: { readonly code: ErrorCode; readonly message: string }
  readonly progress: { readonly operation: string; readonly [detail: string]: unknown }
  /** A listener of another event threw this. */
  readonly hookError: { readonly event: string; readonly error: unknown }
}

/** The events of a service client. */
export type EventName = keyof ClientEvents
type Listener<Name extends EventName> = (payload: ClientEvents[Name]) => void

/** Listeners by event, as an option. */
export type Hooks = { readonly [Name in EventName]?: Listener<Name> }

/** Events that `diagnostics_channel` of Node carries as `stac-auth:<event>`. */
export const CHANNELS = ['request', 'response', 'retry'] as const

/** Calls listeners at once, each with the same frozen payload; what they throw goes to `hookError` and nowhere else. */
export class Events {
  readonly #listeners = new Map<EventName, Set<(payload: never) => void>>()
  #channels: ReadonlyMap<EventName, Channel> = new Map()

  constructor(hooks: Hooks = {}) {
    for (const name of Object.keys(hooks) as EventName[]) {
      const listener = hooks[name] as ((payload: never) => void) | undefined
      if (listener) this.#add(name, listener)
    }
  }

  /** The result takes the listener back. */
  on<Name extends EventName>(event: Name, listener: Listener<Name>): () => void {
    return this.#add(event, listener)
  }

  /** Channels of the platform, beside the listeners. */
  connect(channels: ReadonlyMap<EventName, Channel>): void {
    this.#channels = channels
  }

  /** True when somebody would hear it. */
  has(event: EventName): boolean {
    return this.#listeners.has(event) || this.#channels.get(event)?.hasSubscribers === true
  }

  emit<Name extends EventName>(event: Name, payload: ClientEvents[Name]): void {
    const frozen = Object.freeze(payload)
    for (const listener of this.#listeners.get(event) ?? []) this.#call(event, () => listener(frozen as never))
    const channel = this.#channels.get(event)
    if (channel?.hasSubscribers) this.#call(event, () => channel.publish(frozen))
  }

  #add(event: EventName, listener: (payload: never) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(event, listeners)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(event)
    }
  }

  #call(event: EventName, listen: () => void): void {
    try {
      listen()
    } catch (error) {
      if (event !== 'hookError' && this.has('hookError')) this.emit('hookError', { event, error })
    }
  }
}
