import type { Credential } from '../../../auth/credential.ts'
import { ConfigurationError } from '../../../errors.ts'
import { type HttpAuthScheme, loadedFlow, privateKeyField } from '../scheme.ts'

/** A token signed with the user's P-256 key, for the origin of the request, and the key beside it (RFC 8292 §2, §3). */
export const vapid: HttpAuthScheme = {
  name: 'vapid',
  fields: {
    privateKey: { ...privateKeyField, required: true },
    subject: { kind: 'text', label: 'Contact of the sender: a mailto: or https: URL', required: true },
  },
  about: { standard: 'RFC 8292', browsers: 'yes', steps: 'a', testedAgainst: 'in-process server' },
  check({ subject }: Credential) {
    if (/^(?:mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/.test(String(subject))) return undefined
    return new ConfigurationError('CONFIG_INVALID', 'subject must be a mailto: or https: URL', { pointer: '/subject' })
  },
  authorize: loadedFlow(async () => (await import('./vapid-flow.ts')).vapidFlow),
}
