import { type HttpAuthScheme, loadedFlow } from '../scheme.ts'
import type { ScramHash } from './scram-flow.ts'

/** `SCRAM-SHA-1`, for servers with accounts older than SHA-256. */
export const scramSha1 = scram('SHA-1')

/** `SCRAM-SHA-256`, which every SCRAM server supports. */
export const scramSha256 = scram('SHA-256')

function scram(hash: ScramHash): HttpAuthScheme {
  return {
    name: `scram-${hash.toLowerCase()}`,
    fields: {
      username: { kind: 'text-or-secret', label: 'User name', required: true },
      password: { kind: 'secret', label: 'Password', required: true },
    },
    about: { standard: 'RFC 7804', browsers: 'if exposed', steps: 'h, h, a', testedAgainst: 'GNU SASL, Authen::SCRAM' },
    authorize: loadedFlow(async () => {
      const { scramFlow } = await import('./scram-flow.ts')
      return (request, context) => scramFlow(request, context, hash)
    }),
  }
}
