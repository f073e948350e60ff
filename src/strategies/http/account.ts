import type { Credential, EntryForm } from '../../auth/credential.ts'

/** Words that answer a server's challenge with a user name and password. Their entries are understood; answering is not part of this version. */
const WORDS = ['digest', 'scram-sha-1', 'scram-sha-256', 'mutual'] as const

export const accountForm: EntryForm = {
  when: { scheme: WORDS },
  fields: {
    scheme: { kind: 'text', label: 'HTTP authentication scheme', required: true },
    username: { kind: 'text-or-secret', label: 'User name' },
    password: { kind: 'secret', label: 'Password' },
    algorithms: { kind: 'texts', label: 'Digest algorithms that may be answered' },
    credentials: { kind: 'secret', label: 'Text that follows the scheme name, instead of an account' },
  },
}

/** True for an entry whose account only an answer to a challenge can use. */
export function needsChallenge({ scheme, credentials }: Credential): boolean {
  return credentials === undefined && (WORDS as readonly unknown[]).includes(scheme)
}
