/** The Bun platform: as on Node, but Bun has an undici of its own without what the Node transport needs, so that requests use `fetch`. */

import { platform as node } from './node.ts'
import type { Platform } from './platform.ts'

export { digest, hmacKey, sha256Hex } from './node.ts'

export const platform: Platform = {
  ...node,
  defaultTransport: async () => {
    const { fetchTransport } = await import('./fetch-transport.ts')
    return fetchTransport(undefined, 'server')
  },
  connect: undefined,
  socket: async () => (url) => new WebSocket(url),
}
