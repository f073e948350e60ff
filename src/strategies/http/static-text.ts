import type { Credential, EntryForm } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import { spellingOf } from '../../http/auth-scheme.ts'
import { reveal, unfit } from '../reveal.ts'

/** Any word of the registry or outside it, with ready-made text. */
export const staticTextForm: EntryForm = {
  fields: {
    scheme: { kind: 'text', label: 'HTTP authentication scheme', required: true },
    credentials: { kind: 'secret', label: 'Text that follows the scheme name in the Authorization header', required: true },
  },
}

/** The scheme's name and the entry's ready-made text (RFC 9110 §11.4). */
export function staticText(credential: Credential): string | Promise<string> {
  const text = reveal(credential.credentials as Secret, 'credentials', credential)
  return typeof text === 'string' ? header(text, credential) : text.then((value) => header(value, credential))
}

function header(text: string, { id, scheme }: Credential): string {
  if (!/^[\x20-\x7e]+$/.test(text)) throw unfit('credentials', id, 'has characters that a header cannot carry')
  return `${spellingOf(String(scheme))} ${text}`
}
