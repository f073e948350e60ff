import { platform } from '#platform'
import type { Field } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import { importPrivateKey, type PrivateKey, type SignatureAlgorithm } from '../../crypto/private-key.ts'
import { revealText, unfit } from '../reveal.ts'
import type { HttpContext } from './word.ts'

/** The field that {@link signingKey} reads. */
export const privateKeyField = { kind: 'secret', label: 'Private key (PEM PKCS #8, or JWK)', lines: true } as const satisfies Field

/**
 * The key in the field `privateKey` of the entry, imported once for all requests. Errors: `CREDENTIAL_VALUE_INVALID` for a
 * text that is no key of these kinds, `CREDENTIAL_SOURCE`. Nothing of the key is shown.
 */
export async function signingKey({ credential, session }: HttpContext, algorithms: readonly SignatureAlgorithm[]): Promise<PrivateKey> {
  const text = await revealText(credential.privateKey as Secret, 'privateKey', credential)
  const { value } = await session.resolve(`private key ${await platform.sha256Hex(text)}`, async () => {
    const key = await importPrivateKey(text, algorithms)
    if ('problem' in key) throw unfit('privateKey', credential.id, key.problem)
    return { value: key }
  })
  return value
}
