/** The default strategies of `createAuth`: one line per scheme type, each loaded when its type is first used. */
import type { LazyStrategy } from '../auth/strategy.ts'

/** The default strategies; extend this list for custom types: `createAuth({ strategies: [...defaultStrategies, mine], … })`. */
export const defaultStrategies: readonly LazyStrategy[] = [
  { type: 'apiKey', sendTo: 'required', load: async () => (await import('./api-key.ts')).apiKey },
  { type: 'http', sendTo: 'required', load: async () => (await import('./http/http.ts')).http },
  { type: 'oauth2', sendTo: 'required', load: async () => (await import('./oauth2/oauth2.ts')).oauth2 },
  { type: 'openIdConnect', sendTo: 'required', load: async () => (await import('./open-id-connect.ts')).openIdConnect },
  { type: 'signedUrl', load: async () => (await import('./signed-url/signed-url.ts')).signedUrl },
  { type: 's3', sendTo: 'required', load: async () => (await import('./s3/s3.ts')).s3 },
]
