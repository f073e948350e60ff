import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { canaryOf, leaks, shown } from '../harness/canary.ts'
import { found, scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { CLIENTS, type OAuthServer, startOAuthServer } from '../servers/oidc-provider.ts'

const DATA = 'https://data.example/'

let server: OAuthServer
beforeAll(async () => {
  server = await startOAuthServer()
})
afterAll(() => server.close())

/** An engine with an entry for this server. */
function engine(members: Record<string, unknown>) {
  const entry = { id: 'op', type: 'oauth2', flow: 'clientCredentials', tokenUrl: server.tokenUrl, sendTo: DATA, ...members }
  return createAuth({ credentials: unchecked(entry), transport: undiciTransport({ env: {} }) })
}

const wanted = () => target(scheme.client(server.tokenUrl), `${DATA}f.tif`)
const tokenIn = (header: string | undefined) => found(/^Bearer (.+)$/.exec(header ?? '')?.[1])

describe('client credentials at a real server', () => {
  it.each([
    ['basic', { clientId: CLIENTS.basic.id, clientSecret: CLIENTS.basic.secret }],
    ['basic, said', { clientId: CLIENTS.basic.id, clientSecret: CLIENTS.basic.secret, clientAuthentication: 'basic' }],
    ['post', { clientId: CLIENTS.post.id, clientSecret: CLIENTS.post.secret, clientAuthentication: 'post' }],
  ])('client credentials at a real server get a token that the server knows, with %s', async (_name, members) => {
    const request = await engine({ ...members, scopes: ['read'] }).authorize(wanted())
    const token = await server.find(tokenIn(request.headers.authorization))
    expect(token).toMatchObject({ clientId: members.clientId, scope: 'read' })
    expect(new Date(found(request.expiresAt)).getTime()).toBeLessThanOrEqual(Date.now() + 3_600_000)
  })

  it.each([
    ['a wrong secret', { clientId: CLIENTS.basic.id, clientSecret: 'wrong-secret-value' }],
    ['an unknown client', { clientId: 'nobody', clientSecret: 'wrong-secret-value' }],
    ['no proof', { clientId: CLIENTS.post.id, clientSecret: CLIENTS.post.secret, clientAuthentication: 'none' }],
  ])('client credentials refused by a real server with %s are OAUTH_ERROR invalid_client, tried once', async (_name, members) => {
    const before = server.log.length
    const error = await failureOf(engine(members).authorize(wanted()))
    expect(error).toMatchObject({
      name: 'CredentialError',
      code: 'OAUTH_ERROR',
      credential: 'op',
      message: expect.stringContaining('invalid_client'),
    })
    expect(leaks([canaryOf(members.clientSecret, members.clientId)], { error: shown(error) })).toEqual([])
    expect(server.log.slice(before)).toEqual(['/token'])
  })

  it('client credentials at a real server are refused for a scope that the client may not have', async () => {
    const { id, secret } = CLIENTS.basic
    const error = await failureOf(engine({ clientId: id, clientSecret: secret, scopes: ['write'] }).authorize(wanted()))
    expect(error).toMatchObject({ code: 'OAUTH_ERROR', message: expect.stringMatching(/invalid_scope/) })
  })

  it('client credentials at a real server are requested once by a hundred at once', async () => {
    const { id, secret } = CLIENTS.basic
    const auth = engine({ clientId: id, clientSecret: secret })
    const before = server.log.length
    await Promise.all(Array.from({ length: 100 }, () => auth.authorize(wanted())))
    expect(server.log.length - before).toBe(1)
  })
})
