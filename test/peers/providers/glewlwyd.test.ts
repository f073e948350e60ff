/** Glewlwyd below `/api/oidc`: redirect URIs are compared with their port, and refusals may have no body. */
import { startPeer } from '../peer.ts'
import { Browser, introspected, PASSWORD, type Provider, type Visit } from './provider.ts'
import { testProvider } from './suite.ts'

testProvider('Glewlwyd', ['setup', 'browser', 'written', 'device', 'service', 'password'], start)

const GUARD = { id: 'guard', secret: 'guard-secret' }

async function start(): Promise<Provider | { readonly missing: string }> {
  const peer = await startPeer<{ readonly issuer: string; readonly redirectPort: number }>('glewlwyd')
  if ('missing' in peer) return peer
  const { issuer, redirectPort } = peer.facts
  // It revokes for clients with a secret only.
  const native = (secret: (text: string) => unknown) => ({
    clientId: 'native',
    clientSecret: secret('native-secret'),
    redirectPort,
    scopes: ['openid', 'read'],
  })
  return {
    issuer,
    person: (secret) => ({ type: 'openIdConnect', issuer, ...native(secret) }),
    written: (secret) => ({
      type: 'oauth2',
      flow: 'authorizationCode',
      authorizationUrl: `${issuer}/auth`,
      tokenUrl: `${issuer}/token`,
      ...native(secret),
    }),
    service: {
      owner: 'service',
      fields: (wrong) => (secret) => ({
        type: 'openIdConnect',
        issuer,
        flow: 'clientCredentials',
        clientId: 'service',
        clientSecret: secret(wrong ?? 'service-secret'),
        scopes: ['read'],
      }),
    },
    legacy: (wrong) => (secret) => ({
      type: 'openIdConnect',
      issuer,
      flow: 'password',
      allowPasswordGrant: true,
      clientId: 'legacy',
      clientSecret: secret('legacy-secret'),
      username: 'alice',
      password: secret(wrong ?? PASSWORD),
      scopes: ['openid', 'read'],
    }),
    visit: (url, visit) => login(issuer, url, visit),
    approve: async (url, code) => {
      await login(issuer, `${url}?code=${code}`)
    },
    ask: async (token) => {
      const told = await introspected(`${issuer}/introspect`, GUARD, token)
      return told && String(told.username ?? told.client_id)
    },
    stop: peer.stop,
  }
}

/** What the script of its login page does. */
async function login(issuer: string, url: string, { password = PASSWORD, deny = false }: Visit = {}): Promise<string> {
  const browser = new Browser()
  const page = await browser.open(url)
  const signedIn = await browser.open(new URL('/api/auth/', issuer), { username: 'alice', password })
  if (signedIn.status !== 200) return signedIn.text
  const next = new URL(page.url.searchParams.get('callback_url') ?? '')
  if (deny) throw new Error('its page has no button for that')
  next.searchParams.set('g_continue', '')
  return (await browser.open(next)).text
}
