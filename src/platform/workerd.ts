/** The platform of workerd (Cloudflare Workers): the web platform without CORS, which shows redirects and all response headers. */
import type { Platform } from './platform.ts'
import { platform as web } from './web.ts'

export { digest, hmacKey, sha256Hex } from './web.ts'

export const platform: Platform = {
  ...web,
  defaultTransport: async () => {
    const { fetchTransport } = await import('./fetch-transport.ts')
    return fetchTransport(undefined, 'server')
  },
  hidesHeaders: false,
}
