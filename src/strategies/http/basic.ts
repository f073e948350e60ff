import type { Credential } from '../../auth/credential.ts'
import { authorized, oneLeg } from '../../auth/flow.ts'
import type { Secret } from '../../auth/secret.ts'
import { base64 } from '../../crypto/base64.ts'
import { withHeader } from '../../http/message.ts'
import { atHand, reveal, unfit } from '../reveal.ts'
import type { HttpWord } from './word.ts'

/** `Basic` and base64 of the UTF-8 bytes of `user:password` (RFC 7617 §2, NFC as §2.1 asks), sent at once. */
export const basic: HttpWord = {
  word: 'basic',
  fields: {
    username: { kind: 'text-or-secret', label: 'User name', required: true },
    password: { kind: 'secret', label: 'Password', required: true },
  },
  about: { standard: 'RFC 7617', browsers: 'yes', legs: 'a', testedAgainst: 'lighttpd' },
  peek(request, { credential }) {
    const value = atHand(credential) ? header(credential) : undefined
    return typeof value === 'string' ? authorized(withHeader(request, 'authorization', value)) : undefined
  },
  authorize: oneLeg(async (request, { credential }) => withHeader(request, 'authorization', await header(credential))),
}

function header(credential: Credential): string | Promise<string> {
  const user = reveal(credential.username as Secret, 'username', credential)
  const password = reveal(credential.password as Secret, 'password', credential)
  if (typeof user === 'string' && typeof password === 'string') return encoded(user, password, credential.id)
  return Promise.all([user, password]).then(([user, password]) => encoded(user, password, credential.id))
}

function encoded(user: string, password: string, id: string): string {
  if (user.includes(':')) throw unfit('username', id, 'has a colon in it, which Basic cannot send')
  if (/[\u0000-\u001f\u007f]/.test(user + password)) throw unfit('username or password', id, 'has a control character in it')
  return `Basic ${base64(new TextEncoder().encode(`${user.normalize('NFC')}:${password.normalize('NFC')}`))}`
}
