/** Started with a port and a file for the clients: better-auth with its OAuth provider and the device grant, its tables in memory. */
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { oauthDeviceAuthorization, oauthProvider } from '@better-auth/oauth-provider'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { getAuthTables } from 'better-auth/db'
import { toNodeHandler } from 'better-auth/node'
import { jwt } from 'better-auth/plugins/jwt'

const [port, clientsFile] = process.argv.slice(2)
const origin = `http://127.0.0.1:${port}`
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'

const options = {
  baseURL: origin,
  secret: 'a secret that is only good for tests, and long enough',
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  disabledPaths: ['/token'],
  plugins: [
    jwt(),
    oauthProvider({
      loginPage: '/login',
      consentPage: '/consent',
      clientPrivileges: () => true,
      scopes: ['openid', 'profile', 'email', 'offline_access', 'read'],
      grantTypes: ['authorization_code', 'client_credentials', 'refresh_token', DEVICE],
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    }),
    oauthDeviceAuthorization({ verificationUri: '/device', interval: '1s' }),
  ],
}
const tables = Object.fromEntries(Object.keys(getAuthTables(options)).map((name) => [name, []]))
const auth = betterAuth({ ...options, database: memoryAdapter(tables) })

const alice = { email: 'alice@example.com', password: 'swordfish', name: 'alice' }
const { headers: session } = await auth.api.signUpEmail({ body: alice, returnHeaders: true })
const headers = {
  cookie: session
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; '),
}
const native = await auth.api.adminCreateOAuthClient({
  headers,
  body: {
    redirect_uris: ['http://127.0.0.1/callback'],
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token', DEVICE],
    scope: 'openid offline_access read',
  },
})
const service = await auth.api.adminCreateOAuthClient({
  headers,
  body: { grant_types: ['client_credentials'], client_credentials_scopes: ['read'], scope: 'read' },
})
const clients = { native: native.client_id, service: { id: service.client_id, secret: service.client_secret } }
await writeFile(clientsFile, JSON.stringify(clients))

createServer(toNodeHandler(auth)).listen(Number(port), '127.0.0.1')
