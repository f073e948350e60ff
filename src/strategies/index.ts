/** The strategies that `createAuth` uses unless told otherwise: one line per scheme type, the larger ones loaded on demand. */
import type { LazyStrategy, Strategy } from '../auth/strategy.ts'
import { apiKey } from './api-key.ts'

/** Add to this list for custom types: `createAuth({ strategies: [...defaultStrategies, mine], … })`. */
export const defaultStrategies: readonly (Strategy | LazyStrategy)[] = [
  apiKey,
  { type: 'http', load: async () => (await import('./http.ts')).http },
  { type: 'oauth2', load: async () => (await import('./oauth2.ts')).oauth2 },
  { type: 'openIdConnect', load: async () => (await import('./open-id-connect.ts')).openIdConnect },
  { type: 'signedUrl', load: async () => (await import('./signed-url.ts')).signedUrl },
  { type: 's3', load: async () => (await import('./s3.ts')).s3 },
]
