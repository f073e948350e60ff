import { describe, expect, it } from 'vitest'
import { platform } from '#platform'
import type { Redirection } from '../../../src/auth/auth.ts'
import { readImplicitAnswer } from '../../../src/strategies/oauth2/implicit.ts'
import { leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { AUTHORIZE_URL, DATA, secrets, victim } from '../../harness/victim.ts'

const ISSUER = 'https://auth.victim.example'
const expected = { state: 'right', isIssuer: (iss: string) => iss === ISSUER, askedAt: 1000, credential: 'mine' }
const good = { access_token: 'a.b', token_type: 'bearer', expires_in: '60', scope: 'read list', state: 'right' }
const hash = (members: Record<string, string>) => `#${new URLSearchParams(members)}`
const thrown = (text: string) => failureOf((async () => readImplicitAnswer(text, expected))())

describe('an answer in a fragment', () => {
  it('an answer in a fragment holds a token', () => {
    expect(readImplicitAnswer(hash(good), expected)).toEqual({
      accessToken: 'a.b',
      tokenType: 'Bearer',
      askedAt: 1000,
      expiresAt: 61_000,
      scopes: ['read', 'list'],
    })
    expect(readImplicitAnswer(hash({ ...good, expires_in: 'soon', iss: ISSUER }), expected)).not.toHaveProperty('expiresAt')
  })

  it('an answer in a fragment may hold a token of any visible ASCII characters', () => {
    expect(readImplicitAnswer(hash({ ...good, access_token: 'user:grant!"' }), expected).accessToken).toBe('user:grant!"')
  })

  it.each<[string, string, string]>([
    ['of another login', hash({ ...good, state: 'wrong' }), 'OAUTH_RESPONSE_INVALID'],
    ['of nobody', hash({ access_token: 'a', token_type: 'bearer' }), 'OAUTH_RESPONSE_INVALID'],
    ['that has a parameter twice', `${hash(good)}&access_token=c`, 'OAUTH_RESPONSE_INVALID'],
    ['with two states', `${hash(good)}&state=right`, 'OAUTH_RESPONSE_INVALID'],
    ['that says no', hash({ error: 'access_denied', state: 'right' }), 'LOGIN_DENIED'],
    ['with an error and a token', hash({ ...good, error: 'server_error' }), 'OAUTH_ERROR'],
    ['of another issuer', hash({ ...good, iss: 'https://evil.example' }), 'OAUTH_ISSUER_MISMATCH'],
    ['without a token', hash({ token_type: 'bearer', state: 'right' }), 'OAUTH_RESPONSE_INVALID'],
    ['with a token of two lines', hash({ ...good, access_token: 'a\r\nb' }), 'OAUTH_RESPONSE_INVALID'],
    ['with a token with a blank', hash({ ...good, access_token: 'a b' }), 'OAUTH_RESPONSE_INVALID'],
    ['with a token that is not ASCII', hash({ ...good, access_token: 'ü' }), 'OAUTH_RESPONSE_INVALID'],
    ['with a token of 100 kB', hash({ ...good, access_token: 'a'.repeat(100_000) }), 'OAUTH_RESPONSE_INVALID'],
    ['with a token of another type', hash({ ...good, token_type: 'mac' }), 'OAUTH_TOKEN_TYPE'],
    ['that is empty', '', 'OAUTH_RESPONSE_INVALID'],
  ])('%s is refused', async (_name, text, code) => {
    expect(await thrown(text)).toMatchObject({ code, credential: 'mine' })
  })

  it('an answer in a fragment is never quoted', async () => {
    const text = shown(await thrown(hash({ ...good, access_token: `${secrets.token.value} x`, error_description: secrets.key.value })))
    expect(leaks([secrets.token, secrets.key], { text })).toEqual([])
  })
})

describe('an implicit credential', () => {
  const entry = { id: 'mine', type: 'oauth2', flow: 'implicit', authorizationUrl: AUTHORIZE_URL, clientId: 'app', sendTo: DATA }
  const wanted = target({ type: 'oauth2', flows: { implicit: { authorizationUrl: AUTHORIZE_URL, scopes: {} } } }, `${DATA}f.tif`)

  it('O24 must be requested', async () => {
    expect(await failureOf(victim({ credentials: unchecked(entry) }).auth.ready())).toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('O24 works in browsers only', async () => {
    const { auth } = victim({ credentials: unchecked({ ...entry, allowImplicit: true }) })
    const code = platform.connect ? 'SCHEME_UNSUPPORTED' : 'LOGIN_REQUIRED'
    for (const error of await Promise.all([auth.fetch(wanted), auth.authorize(wanted)].map(failureOf)))
      expect(error).toMatchObject({ code })
    const blind: Redirection = { uri: 'http://127.0.0.1/', answer: () => Promise.reject(new Error('asked')), close: async () => {} }
    expect(await failureOf(auth.login('mine', { redirect: async () => blind }))).toMatchObject({ code: 'SCHEME_UNSUPPORTED' })
  })

  it('logs in where fragments are seen', async () => {
    const { auth, script } = victim({ credentials: unchecked({ ...entry, allowImplicit: true, scopes: ['read'] }) })
    let asked: URL | undefined
    const page: Redirection = {
      uri: 'https://page.example/',
      seesFragments: true,
      answer: async (url) => {
        asked = new URL(url)
        return new URL(`https://page.example/${hash({ ...good, state: asked.searchParams.get('state') ?? '' })}`)
      },
      close: async () => {},
    }
    await auth.login('mine', { redirect: async () => page })
    expect(Object.fromEntries(asked?.searchParams ?? [])).toMatchObject({ response_type: 'token', client_id: 'app', scope: 'read' })
    expect(await auth.status()).toMatchObject([{ credential: 'mine', state: 'valid', refreshable: false }])
    expect(script.sent).toEqual([])
  })
})
