import type { Field } from '../../auth/credential.ts'

/** Fields that every OAuth 2.0 client may have. */
export const clientFields = {
  clientId: { kind: 'text', label: 'Client id' },
  clientSecret: { kind: 'secret', label: 'Client secret' },
  clientAuthentication: { kind: 'text', label: 'How the client proves itself', values: ['basic', 'post', 'none'] },
  scopes: { kind: 'texts', label: 'Scopes to ask for; those of the catalog are never asked for' },
  resource: { kind: 'text', label: 'Resource indicator (RFC 8707)' },
  audience: { kind: 'text', label: 'Audience' },
  placement: { kind: 'placement', label: 'Query parameter for the token, instead of the Authorization header' },
} as const satisfies { readonly [name: string]: Field }
