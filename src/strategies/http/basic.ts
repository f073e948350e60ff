import type { Credential, EntryForm } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import { base64 } from '../../crypto/base64.ts'
import { reveal, unfit } from '../reveal.ts'

export const basicForm: EntryForm = {
  when: { scheme: ['basic'] },
  fields: {
    scheme: { kind: 'text', label: 'HTTP authentication scheme', required: true },
    username: { kind: 'text-or-secret', label: 'User name', required: true },
    password: { kind: 'secret', label: 'Password', required: true },
  },
}

/** `Basic` and base64 of the UTF-8 bytes of `user:password` (RFC 7617 §2, NFC as §2.1 asks). */
export function basic(credential: Credential): string | Promise<string> {
  const user = reveal(credential.username as Secret, 'username', credential)
  return typeof user === 'string' ? withPassword(user, credential) : user.then((name) => withPassword(name, credential))
}

function withPassword(user: string, credential: Credential): string | Promise<string> {
  const password = reveal(credential.password as Secret, 'password', credential)
  return typeof password === 'string' ? header(user, password, credential.id) : password.then((text) => header(user, text, credential.id))
}

function header(user: string, password: string, id: string): string {
  if (user.includes(':')) throw unfit('username', id, 'has a colon in it, which Basic cannot send')
  if (/[\u0000-\u001f\u007f]/.test(user + password)) throw unfit('username or password', id, 'has a control character in it')
  return `Basic ${base64(new TextEncoder().encode(`${user.normalize('NFC')}:${password.normalize('NFC')}`))}`
}
