import { missing } from './missing.ts'
import type { Platform } from './platform.ts'
import { digest, hmacKey, sha256Hex } from './web-crypto.ts'

/** Browsers and other web runtimes: fetch and SubtleCrypto; secrets come from the page, there is nowhere to read them from. */
export const platform: Platform = {
  defaultTransport: async () => {
    const { fetchTransport } = await import('./fetch-transport.ts')
    return fetchTransport()
  },
  connect: undefined,
  hidesHeaders: true,
  socket: async () => (typeof WebSocket === 'function' ? (url) => new WebSocket(url) : missing('socket')),
  sha256Hex,
  digest,
  hmacKey,
  secretSource: (source) => async () => missing('secretSource', ` ({ "${Object.keys(source)[0]}": … })`),
  s3Keys: () => async () => missing('s3Keys'),
  channel: () => undefined,
  shareSignal: () => {},
  files: async () => missing('files'),
  securityContext: async () => missing('securityContext'),
}
