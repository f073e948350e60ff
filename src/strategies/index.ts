/** Exports of `stac-auth/strategies`: one strategy for each scheme type, loaded when a credential or a scheme first has its type. */
import type { LazyStrategy } from '../auth/strategy.ts'
import type { LoadPrivacyPass } from './http/private-token.ts'

/** Keys in a header, a query parameter or a cookie. */
export const apiKey: LazyStrategy = { type: 'apiKey', sendTo: 'required', load: async () => (await import('./api-key.ts')).apiKey }

/** All HTTP authentication schemes. */
export const http: LazyStrategy = { type: 'http', sendTo: 'required', load: async () => (await import('./http/http.ts')).http }

/** Basic, Bearer and ready-made values only: small, for programs in one file such as service workers, which contain all that they name. */
export const simpleHttp: LazyStrategy = {
  type: 'http',
  sendTo: 'required',
  load: async () => (await import('./http/simple-http.ts')).simpleHttp,
}

/** Tokens of OAuth 2.0. */
export const oauth2: LazyStrategy = { type: 'oauth2', sendTo: 'required', load: async () => (await import('./oauth2/oauth2.ts')).oauth2 }

/** Logins with OpenID Connect. */
export const openIdConnect: LazyStrategy = {
  type: 'openIdConnect',
  sendTo: 'required',
  load: async () => (await import('./open-id-connect.ts')).openIdConnect,
}

/** URLs that a signing API signs. */
export const signedUrl: LazyStrategy = { type: 'signedUrl', load: async () => (await import('./signed-url/signed-url.ts')).signedUrl }

/** Signatures for Amazon S3 and compatible stores. */
export const s3: LazyStrategy = { type: 's3', sendTo: 'required', load: async () => (await import('./s3/s3.ts')).s3 }

/** The default strategies; extend this list for custom types: `createAuth({ strategies: [...defaultStrategies, mine], … })`. */
export const defaultStrategies: readonly LazyStrategy[] = [apiKey, http, oauth2, openIdConnect, signedUrl, s3]

/**
 * Returns the strategy `http` with all HTTP authentication schemes, where private tokens may come from an issuer (`issuerRequestUri`), for
 * pages and workers. It replaces `http` of the default strategies; `load` imports the package, which only such pages need. Node, Bun and
 * Deno find the installed package without it.
 *
 * @example
 * const issuing = httpWithTokenIssuer(() => import('@cloudflare/privacypass-ts'))
 * createAuth({ credentials, strategies: [...defaultStrategies, issuing] })
 */
export function httpWithTokenIssuer(load: LoadPrivacyPass): LazyStrategy {
  return {
    type: 'http',
    sendTo: 'required',
    async load() {
      const [{ httpStrategy }, { privateToken, privateTokenWith, schemes }] = await Promise.all([
        import('./http/http-strategy.ts'),
        import('./http/schemes.ts'),
      ])
      const withIssuer = privateTokenWith(load)
      return httpStrategy(schemes.map((scheme) => (scheme === privateToken ? withIssuer : scheme)))
    },
  }
}
