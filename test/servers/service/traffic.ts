import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { Pairs } from './form-pairs.ts'

/** One request in the log, with all secrets: tests look for them elsewhere. */
export interface LoggedRequest {
  /** From 1, in the order of arrival. */
  readonly n: number
  /** By the clock of the service. */
  readonly at: number
  readonly op: number | string | undefined
  readonly socketId: number
  /** From 1. */
  readonly requestOnSocket: number
  readonly method: string
  readonly rawUrl: string
  readonly path: string
  readonly query: Pairs
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingHttpHeaders
  readonly credential: string | undefined
  readonly bodyBytes: Buffer
  /** The bytes as UTF-8. */
  readonly body: string
  /** When the pieces of the body came, in real milliseconds since 1970. */
  readonly chunks: readonly { readonly at: number; readonly bytes: number }[]
  /** 0 until there is an answer. */
  readonly status: number
  /** The connection ended before the answer was out. */
  readonly aborted: boolean
  /** With heads and framing. */
  readonly bytesReceived: number
  readonly bytesSent: number
}

/** A request as long as it is under way. */
export type OpenRequest = { -readonly [name in keyof LoggedRequest]: LoggedRequest[name] }

interface Count {
  requests: number
  inFlight: number
  most: number
}

/** Counts requests and sockets, all and by credential. */
export class Traffic {
  readonly log: LoggedRequest[] = []
  readonly #sockets = new WeakMap<Socket, { readonly id: number; requests: number }>()
  #opened = 0
  #open = 0
  #mostOpen = 0
  #all: Count = { requests: 0, inFlight: 0, most: 0 }
  #ofCredential = new Map<string, Count>()
  #ofOp = new Map<string, number>()

  opened(socket: Socket): void {
    this.#sockets.set(socket, { id: ++this.#opened, requests: 0 })
    this.#mostOpen = Math.max(this.#mostOpen, ++this.#open)
    socket.once('close', () => this.#open--)
  }

  /** Number of the socket, and of the request on it. */
  place(socket: Socket): readonly [socketId: number, requestOnSocket: number] {
    const entry = this.#sockets.get(socket)
    return entry ? [entry.id, ++entry.requests] : [0, 0]
  }

  /** Returns what ends the request, and how many of this credential are under way now. */
  begin(op: number | string | undefined, credential = ''): { readonly end: () => void; readonly n: number; readonly inFlight: number } {
    const own = this.#ofCredential.get(credential) ?? { requests: 0, inFlight: 0, most: 0 }
    this.#ofCredential.set(credential, own)
    const key = `${op ?? ''}\0${credential}`
    this.#ofOp.set(key, (this.#ofOp.get(key) ?? 0) + 1)
    for (const count of [this.#all, own]) {
      count.requests++
      count.most = Math.max(count.most, ++count.inFlight)
    }
    const all = this.#all
    const end = () => {
      all.inFlight--
      own.inFlight--
    }
    return { end, n: all.requests, inFlight: own.inFlight }
  }

  requests(op?: number | string, credential?: string): number {
    if (op === undefined) return (credential === undefined ? this.#all : this.#ofCredential.get(credential))?.requests ?? 0
    let sum = 0
    for (const [key, count] of this.#ofOp) {
      const [name, owner] = key.split('\0')
      if (name === String(op) && (credential === undefined || owner === credential)) sum += count
    }
    return sum
  }

  /** Sockets ever opened. */
  sockets(): number {
    return this.#opened
  }

  maxConcurrent(credential?: string): number {
    return (credential === undefined ? this.#all : this.#ofCredential.get(credential))?.most ?? 0
  }

  maxConcurrentSockets(): number {
    return this.#mostOpen
  }

  /** Forgets requests; sockets keep their numbers. */
  clear(): void {
    this.log.length = 0
    this.#all = { requests: 0, inFlight: 0, most: 0 }
    this.#ofCredential = new Map()
    this.#ofOp = new Map()
    this.#mostOpen = this.#open
  }
}
