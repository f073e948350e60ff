import { describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../../src/auth/credential.ts'
import { ecdsaDer, rsaPublicKey } from '../../../src/crypto/private-key.ts'
import { isAuthError } from '../../../src/errors.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { testKey } from '../../harness/keys.ts'
import { unchecked } from '../../harness/unchecked.ts'

const file = target({ type: 'http', scheme: 'Concealed' }, 'https://data.example/f.tif')

function engine(fields: Partial<CredentialObject> = {}) {
  const key = { privateKey: testKey.ed25519().pem, keyId: 'ada' }
  return createAuth({
    credentials: unchecked({ id: 'mine', type: 'http', scheme: 'concealed', ...key, ...fields, sendTo: 'https://data.example/' }),
  })
}

describe('a credential', () => {
  it.each([
    [{ keyId: 'x'.repeat(1025) }, '/keyId'],
    [{ realm: 'a\nb' }, '/realm'],
    [{ realm: 'é' }, '/realm'],
  ])('%j is refused at %s', async (fields, pointer) => {
    expect(await failureOf(engine(fields).ready())).toMatchObject({
      code: 'CONFIG_INVALID',
      pointer: expect.stringContaining(pointer),
    })
  })

  it('a credential with a key that cannot be read says so, and shows nothing of it', async () => {
    const error = await failureOf(engine({ privateKey: 'canary' }).fetch(file))
    expect(isAuthError(error) && [error.code, error.message.includes('canary')]).toEqual([
      platform.connect ? 'CREDENTIAL_VALUE_INVALID' : 'UNSUPPORTED_IN_BROWSER',
      false,
    ])
  })

  it('a credential is explained as usable only where a connection can be held', async () => {
    const { refs } = await engine().explain(file)
    expect(refs[0]?.code).toBe(platform.connect ? undefined : 'UNSUPPORTED_IN_BROWSER')
  })
})

it('writes an RSA public key as OpenSSL does', () => {
  const { publicKey } = testKey.rsa()
  const { n, e } = publicKey.export({ format: 'jwk' })
  expect(Buffer.from(rsaPublicKey({ n: String(n), e: String(e) }))).toEqual(publicKey.export({ type: 'pkcs1', format: 'der' }))
})

describe('an ECDSA signature', () => {
  it.each([
    [`${'01'.repeat(32)}${'02'.repeat(32)}`, `3044${`0220${'01'.repeat(32)}`}${`0220${'02'.repeat(32)}`}`],
    [`${'80'.repeat(32)}${'00'.repeat(31)}7f`, `3026${`022100${'80'.repeat(32)}`}02017f`],
    ['00'.repeat(64), '3006020100020100'],
  ])('%s is %s in DER', (raw, der) => {
    expect(Buffer.from(ecdsaDer(Buffer.from(raw, 'hex'))).toString('hex')).toBe(der)
  })
})
