import type { LazyStrategy } from '../../auth/strategy.ts'

/** Strategy `http` with token issuers in pages and workers: an entry of its own, so that no other page needs the package that they need. */

/**
 * The strategy `http` with all HTTP authentication schemes, where private tokens may come from an issuer (`issuerRequestUri`). It replaces
 * `http` of the default strategies; `@cloudflare/privacypass-ts` must be installed. Node, Bun and Deno need only the package.
 *
 * @example createAuth({ credentials, strategies: [...defaultStrategies, httpWithTokenIssuer] })
 */
export const httpWithTokenIssuer: LazyStrategy = {
  type: 'http',
  sendTo: 'required',
  async load() {
    const [{ httpStrategy }, { schemes, privateToken, privateTokenWith }] = await Promise.all([
      import('./http-strategy.ts'),
      import('./schemes.ts'),
    ])
    const withIssuer = privateTokenWith(() => import('@cloudflare/privacypass-ts'))
    return httpStrategy(schemes.map((scheme) => (scheme === privateToken ? withIssuer : scheme)))
  },
}
