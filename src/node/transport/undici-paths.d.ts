/** The types of what `undici-parts.ts` imports: undici has them only for its index. */

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
