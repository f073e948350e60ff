import type { Credential } from '../../auth/credential.ts'
import { authorized, oneLeg } from '../../auth/flow.ts'
import type { Secret } from '../../auth/secret.ts'
import { withHeader } from '../../http/message.ts'
import { atHand, reveal, unfit } from '../reveal.ts'
import type { HttpWord } from './word.ts'

/** `Bearer` and the token (RFC 6750 §2.1), sent at once. */
export const bearer: HttpWord = {
  word: 'bearer',
  fields: { token: { kind: 'secret', label: 'Access token', required: true } },
  about: { standard: 'RFC 6750', browsers: 'yes', legs: 'a', testedAgainst: 'in-process server' },
  peek(request, { credential }) {
    const value = atHand(credential) ? header(credential) : undefined
    return typeof value === 'string' ? authorized(withHeader(request, 'authorization', value)) : undefined
  },
  authorize: oneLeg(async (request, { credential }) => withHeader(request, 'authorization', await header(credential))),
}

const B64TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/

function header(credential: Credential): string | Promise<string> {
  const token = reveal(credential.token as Secret, 'token', credential)
  return typeof token === 'string' ? written(token, credential.id) : token.then((value) => written(value, credential.id))
}

function written(token: string, id: string): string {
  if (!B64TOKEN.test(token)) throw unfit('token', id, 'is no bearer token (letters, digits and -._~+/= only)')
  return `Bearer ${token}`
}
