import type { Field } from '../../auth/credential.ts'

/** The field that `signingKey` reads. */
export const privateKeyField = { kind: 'secret', label: 'Private key (PEM PKCS #8, or JWK)', lines: true } as const satisfies Field
