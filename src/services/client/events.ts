/** The events of a client. An event without listeners costs nothing. */
import type { ErrorCode } from '../../errors.ts'
import type { Channel } from '../../platform/platform.ts'

/** Fields of every event about a call. URLs have no query, headers no secret values. */
export interface CallEvent {
  /** Number of the call in this process: the same in all events of one call. */
  readonly id: number
  /** Name of the operation: `projects.list`, `GET request`. */
  readonly operation: string
  /** HTTP method. */
  readonly method: string
  /** URL of the request without its query. */
  readonly url: string
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** `tag` of the call's options. */
  readonly tag?: unknown
}

/**
 * The events of a client and their payloads, which are frozen. Listeners are called synchronously; an error that one throws becomes the
 * event `hookError`.
 */
export interface ClientEvents {
  /** An attempt is about to be sent; its headers are not authorized yet. */
  readonly request: CallEvent & { readonly headers: Readonly<Record<string, string>> }
  /** An attempt got a response, with any status. */
  readonly response: CallEvent & {
    readonly status: number
    readonly traceId?: string
    /** Duration of the attempt in milliseconds. */
    readonly durationMs: number
    /** Size of the decoded body in bytes. */
    readonly bytes: number
  }
  /** An attempt failed with the error code in `reason`, and another one follows after `delayMs` milliseconds. */
  readonly retry: CallEvent & { readonly reason: string; readonly delayMs: number }
  /** A call waits because of the concurrency limit: calls in the queue with this one, and the limit. */
  readonly queue: { readonly depth: number; readonly limit: number }
  /** A problem that did not fail the call, with a code of docs/errors.md. */
  readonly warning: { readonly code: ErrorCode; readonly message: string }
  /** The state of a document or job that the client waits for. */
  readonly progress: { readonly operation: string; readonly [detail: string]: unknown }
  /** A listener of the event named `event` threw this error. */
  readonly hookError: { readonly event: string; readonly error: unknown }
}

/** The names of the events. */
export type EventName = keyof ClientEvents
type Listener<Name extends EventName> = (payload: ClientEvents[Name]) => void

/** Listeners by event, as an option. */
export type Hooks = { readonly [Name in EventName]?: Listener<Name> }

/** Events that `diagnostics_channel` of Node carries as `stac-auth:<event>`. */
export const CHANNELS = ['request', 'response', 'retry'] as const

/** Calls listeners synchronously, each with the same frozen payload; an error that one throws becomes the event `hookError`. */
export class Events {
  readonly #listeners = new Map<EventName, Set<(payload: never) => void>>()
  readonly #channels = new Map<EventName, Channel>()

  constructor(hooks: Hooks) {
    for (const [name, listener] of Object.entries(hooks)) if (listener) this.on(name as EventName, listener as Listener<EventName>)
  }

  /** Adds a listener and returns a function that removes it. */
  on<Name extends EventName>(event: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(event, listeners)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(event)
    }
  }

  /** Sets the channel of the platform that receives an event besides the listeners. */
  connect(event: EventName, channel: Channel | undefined): void {
    if (channel) this.#channels.set(event, channel)
  }

  /** @param make makes the payload, if anybody listens */
  emit<Name extends EventName>(event: Name, make: () => ClientEvents[Name]): void {
    const listeners = this.#listeners.get(event) ?? []
    const channel = this.#channels.get(event)
    if (!channel?.hasSubscribers && !this.#listeners.has(event)) return
    const payload = Object.freeze(make())
    for (const listener of listeners) this.#call(event, () => listener(payload as never))
    if (channel?.hasSubscribers) this.#call(event, () => channel.publish(payload))
  }

  #call(event: EventName, listen: () => void): void {
    try {
      listen()
    } catch (error) {
      if (event !== 'hookError') this.emit('hookError', () => ({ event, error }))
    }
  }
}
