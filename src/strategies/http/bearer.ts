import type { Credential } from '../../auth/credential.ts'
import { authorized, singleStep } from '../../auth/strategy.ts'
import { withHeader } from '../../http/message.ts'
import { accessToken, atHand } from '../reveal.ts'
import type { HttpAuthScheme } from './scheme.ts'

/** `Bearer` and the token (RFC 6750 §2.1), sent preemptively. */
export const bearer: HttpAuthScheme = {
  name: 'bearer',
  fields: { token: { kind: 'secret', label: 'Access token', required: true } },
  about: { standard: 'RFC 6750', browsers: 'yes', steps: 'a', testedAgainst: 'in-process server' },
  peek(request, { credential }) {
    const value = atHand(credential) ? header(credential) : undefined
    return typeof value === 'string' ? authorized(withHeader(request, 'authorization', value)) : undefined
  },
  authorize: /* @__PURE__ */ singleStep(async (request, { credential }) => withHeader(request, 'authorization', await header(credential))),
}

function header(credential: Credential): string | Promise<string> {
  const token = accessToken(credential)
  return typeof token === 'string' ? `Bearer ${token}` : token.then((value) => `Bearer ${value}`)
}
