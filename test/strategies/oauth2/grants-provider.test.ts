import { describe, expect, it } from 'vitest'
import { type CredentialInput, Secret } from '../../../src/auth/credential.ts'
import { shown } from '../../harness/canary.ts'
import { failureOf } from '../../harness/failure.ts'
import { testKey } from '../../harness/keys.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { ACCOUNT, SECRETS } from '../../servers/authorization-server.ts'
import { provided } from './provider.ts'

const key = testKey.p256()
const { privateKey: _private, ...publicJwk } = { ...JSON.parse(key.jwk), privateKey: undefined, d: undefined }
const machine = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [], scope: 'read' }
const clients = [
  { ...machine, client_id: 'post', client_secret: SECRETS.service, token_endpoint_auth_method: 'client_secret_post' },
  { ...machine, client_id: 'secretJwt', client_secret: SECRETS.service, token_endpoint_auth_method: 'client_secret_jwt' },
  { ...machine, client_id: 'privateKeyJwt', token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ ...publicJwk, kid: 'k1' }] } },
]

describe('client credentials', () => {
  it.each<[string, Partial<CredentialInput>, Partial<CredentialInput>]>([
    ['basic', { clientId: 'service' }, { clientSecret: 'wrong' }],
    ['post', {}, { clientSecret: 'wrong' }],
    ['secretJwt', {}, { clientSecret: 'wrong secret of thirty-two letters' }],
    ['privateKeyJwt', { clientSecret: undefined, privateKey: key.pem, keyId: 'k1' }, { privateKey: testKey.p256().pem }],
  ])('client credentials with the client proved by %s', async (clientAuthentication, fields, wrong) => {
    const { entries, engine, file, server } = await provided({ clients })
    const credential = { ...entries.service, clientId: clientAuthentication, clientAuthentication, ...fields }
    expect(await (await engine(unchecked(credential)).fetch(file(unchecked(credential)))).text()).toBe(`file of ${credential.clientId}`)
    const error = await failureOf(engine(unchecked({ ...credential, id: 'other', ...wrong })).fetch(file(unchecked(credential))))
    expect(error).toMatchObject({ code: 'OAUTH_ERROR', actual: 'invalid_client', credential: 'other' })
    expect(server.log.filter((line) => line === 'POST /token')).toHaveLength(2)
  })

  it('client credentials by the issuer alone, whose metadata name the endpoint', async () => {
    const { entries, engine, file, server } = await provided()
    const entry = { ...entries.service, tokenUrl: undefined, issuer: server.issuer }
    expect(await (await engine(unchecked(entry)).fetch(file(entries.service))).text()).toBe('file of service')
    expect(server.log[0]).toBe('GET /.well-known/openid-configuration')
  })

  it('client credentials are kept in the store, and requested anew when a server refuses the token', async () => {
    const { entries, engine, file, server, kept } = await provided()
    const first = engine(entries.service)
    for (let round = 0; round < 3; round++) await first.fetch(file(entries.service))
    expect(await (await engine(entries.service).fetch(file(entries.service))).text()).toBe('file of service')
    expect(server.log.filter((line) => line === 'POST /token')).toHaveLength(1)
    expect(kept.size).toBe(1)
    server.refuseShown()
    await Promise.all(Array.from({ length: 50 }, () => first.fetch(file(entries.service))))
    expect(server.log.filter((line) => line === 'POST /token')).toHaveLength(2)
  })
})

describe('the password grant', () => {
  it('passes the password to the token endpoint once, and reports nothing of it', async () => {
    const { entries, engine, file, server } = await provided()
    const entry = { ...entries.legacy, ...ACCOUNT, allowPasswordGrant: true }
    expect(await (await engine(entry).fetch(file(entry))).text()).toBe('file of alice')
    const error = await failureOf(engine({ ...entry, id: 'other', password: 'canary-password' }).fetch(file(entry)))
    expect(error).toMatchObject({ code: 'OAUTH_ERROR', actual: 'invalid_grant' })
    expect(shown(error)).not.toContain('canary-password')
    expect(server.log.filter((line) => line === 'POST /token')).toHaveLength(2)
  })

  it('O18 keeps the tokens of two users apart', async () => {
    const { entries, engine, file, server, kept } = await provided()
    const entry = { ...entries.legacy, ...ACCOUNT, allowPasswordGrant: true }
    await engine(entry).fetch(file(entry))
    expect(await failureOf(engine({ ...entry, username: 'mallory' }).fetch(file(entry)))).toMatchObject({ code: 'OAUTH_ERROR' })
    await engine(entry).fetch(file(entry))
    expect(kept.size).toBe(1)
    expect(server.log.filter((line) => line === 'POST /token')).toHaveLength(2)
  })

  it('O18 keeps them apart also where another place says who the user is, and finds them again', async () => {
    const { entries, engine, file, server, kept } = await provided()
    const named = (name: string) => ({ ...entries.legacy, ...ACCOUNT, username: () => name, allowPasswordGrant: true })
    const alice = named(ACCOUNT.username)
    for (let round = 0; round < 2; round++) await engine(alice).fetch(file(alice))
    expect(await failureOf(engine(named('mallory')).fetch(file(alice)))).toMatchObject({ code: 'OAUTH_ERROR', actual: 'invalid_grant' })
    await engine(alice).fetch(file(alice))
    expect([...kept.values()].join()).not.toContain(ACCOUNT.username)
    expect(server.log.filter((line) => line === 'POST /token')).toHaveLength(2)
    await engine(named('mallory')).logout('legacy')
    expect(kept.size).toBe(0)
  })

  it('asks no one for a name while a token of theirs is there', async () => {
    const { entries, engine, file } = await provided()
    let asked = 0
    const username = new Secret(() => {
      asked++
      return ACCOUNT.username
    }, true)
    const entry = { ...entries.legacy, ...ACCOUNT, username, allowPasswordGrant: true }
    for (let round = 0; round < 3; round++) expect((await engine(entry).fetch(file(entry))).status).toBe(200)
    expect(asked).toBe(1)
  })

  it.each([[{}], [{ allowPasswordGrant: false }]])('O24 must be enabled: %j is not enough', async (fields) => {
    const { entries, engine, server } = await provided()
    const entry = { ...entries.legacy, ...ACCOUNT, ...fields }
    expect(await failureOf(engine(entry).ready())).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/allowPasswordGrant' })
    expect(server.log).toEqual([])
  })

  it('the password grant can be written as JSON, for endpoints that want that', async () => {
    const seen: string[] = []
    const { entries, engine, file, server } = await provided({
      interfere: (request, response) => {
        if (request.url !== '/token') return false
        request.on('data', (chunk) => seen.push(String(request.headers['content-type']), String(chunk)))
        request.on('end', () => response.end('{"access_token":"made-up","token_type":"Bearer"}'))
        return true
      },
    })
    const entry = { ...entries.legacy, ...ACCOUNT, allowPasswordGrant: true, tokenRequest: 'json' }
    expect((await engine(unchecked(entry)).authorize(file(unchecked(entry)))).headers).toEqual({ authorization: 'Bearer made-up' })
    expect([seen[0], JSON.parse(seen[1] ?? '')]).toEqual(['application/json', { grant_type: 'password', ...ACCOUNT, scope: 'read' }])
    expect(server.log).toEqual(['POST /token'])
  })
})

describe('a token exchange', () => {
  it('turns the token of another credential into one of its own', async () => {
    const { entries, engine, file, server } = await provided()
    const upstream = { ...entries.legacy, ...ACCOUNT, allowPasswordGrant: true }
    const entry = { ...entries.exchanger, subject: 'legacy' }
    expect(await (await engine([upstream, entry], { session: undefined }).fetch(file(entry))).text()).toBe('file of alice by exchange')
    expect(server.log.filter((line) => line.startsWith('granted'))).toEqual([
      'granted password',
      'granted urn:ietf:params:oauth:grant-type:token-exchange',
    ])
  })

  it('gives nothing to an endpoint that the other credential may not go to', async () => {
    const { entries, engine, server } = await provided()
    const upstream = { ...entries.legacy, ...ACCOUNT, allowPasswordGrant: true, sendTo: 'https://data.example/' }
    const entry = { ...entries.exchanger, subject: 'legacy' }
    expect(await failureOf(engine([upstream, entry]).ready())).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/1/subject' })
    expect(server.log).toEqual([])
  })

  it('a token exchange uses the endpoint that its issuer publishes, whatever the credential names', async () => {
    const { entries, engine, file, server } = await provided()
    const upstream = { ...entries.legacy, ...ACCOUNT, allowPasswordGrant: true, sendTo: [`${server.issuer}/`] }
    const published = { tokenUrl: undefined, issuer: server.issuer, revocationUrl: 'https://elsewhere.example/revoke' }
    const entry = { ...entries.exchanger, ...published, subject: 'legacy' }
    expect(await (await engine(unchecked([upstream, entry])).fetch(file(entries.exchanger))).text()).toBe('file of alice by exchange')
    const outside = { ...upstream, sendTo: 'https://elsewhere.example/' }
    expect(await failureOf(engine(unchecked([outside, entry])).ready())).toMatchObject({
      code: 'CONFIG_INVALID',
      pointer: '/credentials/1/subject',
    })
  })

  it.each([
    ['urn:ietf:params:oauth:token-type:refresh_token', 'FLOW_INVALID'],
    ['urn:ietf:params:oauth:token-type:id_token', 'CONFIG_INVALID'],
  ])('a token exchange of the type %s is %s', async (subjectTokenType, code) => {
    const { entries, engine, file } = await provided()
    const upstream = { ...entries.legacy, ...ACCOUNT, allowPasswordGrant: true }
    const entry = { ...entries.exchanger, subject: 'legacy', subjectTokenType }
    expect(await failureOf(engine([upstream, entry]).fetch(file(entry)))).toMatchObject({ code })
  })
})

it('no secret is in what the store keeps but the tokens themselves', async () => {
  const { entries, engine, file, kept } = await provided()
  const entry = { ...entries.legacy, ...ACCOUNT, allowPasswordGrant: true }
  await engine(entry).fetch(file(entry))
  const text = [...kept].flat().join('\n')
  for (const secret of [ACCOUNT.password, SECRETS.legacy]) expect(text).not.toContain(secret)
})
