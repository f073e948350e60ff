import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { adoptKeyPair, generatePrivateKey } from '../../../src/crypto/private-key.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { scheme, target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'

const TOKEN_URL = 'https://identity.example/token'

const noKey = async (): Promise<unknown> => undefined

/** Why an engine with these members cannot get a token; nothing is sent. */
async function refusal(members: object) {
  const sent: string[] = []
  const entry = { id: 'op', type: 'oauth2', flow: 'clientCredentials', tokenUrl: TOKEN_URL, clientId: 'c', clientSecret: 's', ...members }
  const transport = async ({ url }: { readonly url: string }) => {
    sent.push(url)
    throw new Error('nothing is to be sent')
  }
  const auth = createAuth({ credentials: unchecked({ ...entry, sendTo: 'https://data.example/' }), transport })
  const error = await failureOf(auth.authorize(target(scheme.client(TOKEN_URL), 'https://data.example/a')))
  expect(sent).toEqual([])
  return error
}

describe('a key pair of the page’s', () => {
  it('a key pair of the page’s is used as it is, and never one that can be read out', async () => {
    const { pair, thumbprint, publicJwk } = await generatePrivateKey()
    expect(await adoptKeyPair(pair)).toMatchObject({ algorithm: 'ES256', thumbprint, publicJwk })
    const open = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
    expect(await adoptKeyPair(open)).toEqual({ problem: expect.stringContaining('extractable: false') })
  })

  it.each([
    ['nothing', async () => undefined],
    ['a text', async () => 'a key'],
    ['a pair on another curve', () => crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-384' }, false, ['sign', 'verify'])],
    [
      'something that only looks like one',
      async () => ({ publicKey: { algorithm: { namedCurve: 'P-256' } }, privateKey: { algorithm: { namedCurve: 'P-256' } } }),
    ],
    ['one that can be read out', () => crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])],
  ])('a key pair of the page’s that is %s is CREDENTIAL_VALUE_INVALID', async (_name, dpopKeyPair) => {
    expect(await refusal({ dpop: true, dpopKeyPair })).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', credential: 'op' })
  })

  it('a key pair of the page’s whose function fails is CREDENTIAL_SOURCE, without what it said', async () => {
    const dpopKeyPair = async () => {
      throw new Error('secret-of-the-database')
    }
    const error = await refusal({ dpop: true, dpopKeyPair })
    expect(error).toMatchObject({ code: 'CREDENTIAL_SOURCE', credential: 'op' })
    expect(leaks([canaryOf('secret-of-the-database')], { error: shown(error) })).toEqual([])
  })

  it.each([
    ['without bound tokens', { dpopKeyPair: noKey }],
    ['beside another key', { dpop: true, dpopKey: 'x', dpopKeyPair: noKey }],
    ['that is no function', { dpop: true, dpopKeyPair: 'x' }],
  ])('%s is not a credential', async (_name, members) => {
    expect(await refusal(members)).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/dpopKeyPair' })
  })
})
