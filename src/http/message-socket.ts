/** A connection for messages both ways, as much of a platform's `WebSocket` (WHATWG WebSockets §3.1) as is needed. */
export interface MessageSocket {
  binaryType: 'arraybuffer' | 'blob'
  /** Bytes that are still to be sent. */
  readonly bufferedAmount: number
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(code?: number): void
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: MessageSocketEvent) => void): void
}

/** What its listeners are told: `data` of a message, `code` of a close (RFC 6455 §7.4). */
export interface MessageSocketEvent {
  readonly data?: unknown
  readonly code?: number
}
