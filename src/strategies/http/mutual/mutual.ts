import { type HttpAuthScheme, loadedFlow } from '../scheme.ts'

/**
 * `Mutual`: the first request of a realm takes two more round trips. Experimental: not tested against
 * another implementation.
 */
export const mutual: HttpAuthScheme = {
  name: 'mutual',
  fields: {
    username: { kind: 'text-or-secret', label: 'User name', required: true },
    password: { kind: 'secret', label: 'Password', required: true },
  },
  about: {
    standard: 'RFC 8120, RFC 8121',
    browsers: 'if exposed',
    steps: 'h, h, a',
    testedAgainst: 'our own server only: interoperability not proven',
  },
  authorize: loadedFlow(async () => (await import('./mutual-flow.ts')).mutualFlow),
}
