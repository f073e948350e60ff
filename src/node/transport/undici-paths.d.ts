/** The types of what this folder imports from undici: it has them only for its index. */

declare module 'undici/lib/core/connect.js' {
  const connect: typeof import('undici').buildConnector
  export = connect
}

declare module 'undici/lib/dispatcher/agent.js' {
  const agent: typeof import('undici').Agent
  export = agent
}

declare module 'undici/lib/dispatcher/client.js' {
  const client: typeof import('undici').Client
  export = client
}

declare module 'undici/lib/core/symbols.js' {
  const symbols: { readonly kParser: symbol }
  export = symbols
}

declare module 'undici/lib/core/socks5-client.js' {
  import type { EventEmitter } from 'node:events'
  import type { Socket } from 'node:net'

  /** Emits `authenticated`, `connected`, `error` and `close`. */
  export class Socks5Client extends EventEmitter {
    constructor(socket: Socket, options: { readonly username?: string | undefined; readonly password?: string | undefined })
    handshake(): void
    connect(host: string, port: number): void
  }
}
