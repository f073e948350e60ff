import { describe, expect, it } from 'vitest'
import { NetworkError } from '../../../src/errors.ts'
import { findIssuer } from '../../../src/strategies/oauth2/find-issuer.ts'
import { redirectTo, routes, script } from '../../harness/scripted.ts'

const ORIGIN = 'https://auth.victim.example'
const known = { tokenUrl: `${ORIGIN}/realms/eo/protocol/token`, authorizationUrl: `${ORIGIN}/realms/eo/protocol/auth` }
const good = { token_endpoint: known.tokenUrl, authorization_endpoint: known.authorizationUrl }
const OPEN_ID = '/.well-known/openid-configuration'

describe('the issuer behind endpoints', () => {
  it.each([
    ['at the origin', ORIGIN, `${ORIGIN}${OPEN_ID}`],
    ['with a slash at its end', `${ORIGIN}/`, `${ORIGIN}${OPEN_ID}`],
    ['below the origin', `${ORIGIN}/realms/eo`, `${ORIGIN}/realms/eo${OPEN_ID}`],
    ['of a server without OpenID Connect', `${ORIGIN}/realms/eo`, `${ORIGIN}/.well-known/oauth-authorization-server/realms/eo`],
  ])('the issuer behind endpoints is found %s', async (_name, issuer, at) => {
    const { send, sent } = routes({ [at]: { body: { ...good, issuer } } })
    expect(await findIssuer(known, send)).toBe(issuer)
    expect(sent.every(({ method, headers }) => method === 'GET' && headers.authorization === undefined)).toBe(true)
  })

  it('the issuer behind endpoints is found where people log in, on another host than the token endpoint', async () => {
    const google = { tokenUrl: 'https://oauth2.victim.example/token', authorizationUrl: 'https://accounts.victim.example/o/oauth2/v2/auth' }
    const issuer = 'https://accounts.victim.example'
    const body = { issuer, token_endpoint: google.tokenUrl, authorization_endpoint: google.authorizationUrl }
    expect(await findIssuer(google, routes({ [`${issuer}${OPEN_ID}`]: { body } }).send)).toBe(issuer)
  })

  it.each<[string, object]>([
    ['names another host', { ...good, issuer: 'https://evil.example' }],
    ['names another realm', { ...good, issuer: `${ORIGIN}/realms/b` }],
    ['names something below', { ...good, issuer: `${ORIGIN}/realms` }],
    ['names nothing', good],
    ['names no text', { ...good, issuer: [ORIGIN] }],
    ['has another token endpoint', { ...good, issuer: ORIGIN, token_endpoint: `${ORIGIN}/token` }],
    ['has no token endpoint', { ...good, issuer: ORIGIN, token_endpoint: undefined }],
    ['has another login page', { ...good, issuer: ORIGIN, authorization_endpoint: `${ORIGIN}/authorize` }],
  ])('the issuer behind endpoints is not believed when its document %s', async (_name, body) => {
    expect(await findIssuer(known, routes({ [`${ORIGIN}${OPEN_ID}`]: { body } }).send)).toBeUndefined()
  })

  it('the issuer is requested only at the hosts of the endpoints, and no redirect leads elsewhere', async () => {
    const { send, sent } = script(() => redirectTo('https://evil.example/'))
    expect(await findIssuer(known, send)).toBeUndefined()
    expect(new Set(sent.map(({ url }) => new URL(url).host))).toEqual(new Set(['auth.victim.example']))
    expect(sent.length).toBeLessThanOrEqual(10)
  })

  it.each([
    ['nobody answers', () => Promise.reject(new NetworkError('NETWORK_REFUSED', 'refused'))],
    ['pages answer', script(() => ({ body: '<html>' })).send],
    ['lists answer', script(() => ({ body: [good] })).send],
    ['10 MB answer', script(() => ({ body: { ...good, issuer: ORIGIN, padding: 'x'.repeat(2_000_000) } })).send],
  ])('the issuer behind endpoints is unknown when %s', async (_name, send) => {
    expect(await findIssuer(known, send)).toBeUndefined()
  })

  it('the issuer behind endpoints is not requested any more when the caller aborts', async () => {
    const { send, sent } = routes({})
    expect(await findIssuer(known, send, AbortSignal.abort())).toBeUndefined()
    expect(sent).toEqual([])
  })
})
