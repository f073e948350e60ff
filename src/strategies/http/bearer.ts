import type { Credential, EntryForm } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import { reveal, unfit } from '../reveal.ts'

export const bearerForm: EntryForm = {
  when: { scheme: ['bearer'] },
  fields: {
    scheme: { kind: 'text', label: 'HTTP authentication scheme', required: true },
    token: { kind: 'secret', label: 'Access token', required: true },
  },
}

const B64TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/

/** `Bearer` and the token (RFC 6750 §2.1). Errors: `CREDENTIAL_VALUE_INVALID` when it is no b64token. */
export function bearer(credential: Credential): string | Promise<string> {
  const token = reveal(credential.token as Secret, 'token', credential)
  return typeof token === 'string' ? header(token, credential.id) : token.then((value) => header(value, credential.id))
}

function header(token: string, id: string): string {
  if (!B64TOKEN.test(token)) throw unfit('token', id, 'is no bearer token (letters, digits and -._~+/= only)')
  return `Bearer ${token}`
}
