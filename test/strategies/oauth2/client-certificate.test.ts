import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { undiciTransport } from '../../../src/node/transport/undici-transport.ts'
import { scheme, target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { CERTIFIED, TEST_CA } from '../../servers/harness.ts'

/** A token endpoint that believes whoever shows our certificate (RFC 8705 §2.2), and a resource that must not be shown any. */
async function provider() {
  const seen: { path: string; shown: boolean; body: string }[] = []
  const server = createServer({ ...CERTIFIED, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const shown = Boolean((request.socket as TLSSocket).getPeerCertificate().fingerprint256)
      seen.push({ path: request.url ?? '', shown, body })
      if (request.url === '/f') response.end('data')
      else if (shown) response.end('{"access_token":"t","token_type":"Bearer"}')
      else response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

it('a client proves itself by its certificate, to the token endpoint and to no one else', async () => {
  const { origin, seen } = await provider()
  const proof = { clientAuthentication: 'tls', certificate: CERTIFIED.cert, privateKey: CERTIFIED.key }
  const client = { type: 'oauth2', flow: 'clientCredentials', tokenUrl: `${origin}/token`, clientId: 'app', sendTo: `${origin}/` }
  const transport = undiciTransport({ ca: TEST_CA, env: {} })
  const wanted = target(scheme.client(`${origin}/token`), `${origin}/f`)
  const auth = createAuth({ credentials: unchecked({ id: 'mine', ...client, ...proof }), transport })
  expect(await (await auth.fetch(wanted)).text()).toBe('data')
  expect(seen).toEqual([
    { path: '/token', shown: true, body: expect.stringContaining('client_id=app') },
    { path: '/f', shown: false, body: '' },
  ])
  expect(seen[0]?.body).not.toContain('secret')
  const without = createAuth({ credentials: unchecked({ id: 'other', ...client, clientAuthentication: 'none' }), transport })
  expect(await failureOf(without.fetch(wanted))).toMatchObject({ code: 'OAUTH_ERROR', actual: 'invalid_client' })
})

it('a credential says what it lacks for that', async () => {
  const client = { type: 'oauth2', flow: 'clientCredentials', tokenUrl: 'https://a.example/token', clientId: 'app', sendTo: [] }
  for (const [fields, pointer] of [
    [{ clientAuthentication: 'tls' }, '/credentials/0/certificate'],
    [{ clientAuthentication: 'tls', certificate: 'x' }, '/credentials/0/privateKey'],
    [{ clientAuthentication: 'privateKeyJwt' }, '/credentials/0/privateKey'],
    [{ clientAuthentication: 'secretJwt' }, '/credentials/0/clientSecret'],
    [{}, '/credentials/0/clientSecret'],
    [{ clientSecret: 's', dpopKey: 'k' }, '/credentials/0/dpopKey'],
    [{ clientSecret: 's', dpop: true, present: 'id_token' }, '/credentials/0/present'],
    [{ clientSecret: 's', tokenUrl: undefined }, '/credentials/0/tokenUrl'],
  ] as const) {
    const error = await failureOf(createAuth({ credentials: unchecked({ id: 'mine', ...client, ...fields }) }).ready())
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer })
  }
})
