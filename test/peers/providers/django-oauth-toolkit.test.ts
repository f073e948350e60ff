/** django-oauth-toolkit below `/o`: endpoints end in a slash, and so does the URL of its discovery document. */
import { startPeer } from '../peer.ts'
import { Browser, PASSWORD, type Provider, type Visit } from './provider.ts'
import { testProvider } from './suite.ts'

testProvider('django-oauth-toolkit', ['browser', 'consent', 'written', 'service', 'password'], start)

async function start(): Promise<Provider | { readonly missing: string }> {
  const peer = await startPeer<{ readonly issuer: string; readonly resource: string }>('django-oauth-toolkit')
  if ('missing' in peer) return peer
  const { issuer, resource } = peer.facts
  const openId = { type: 'openIdConnect', openIdConnectUrl: `${issuer}/.well-known/openid-configuration/` }
  // It publishes no revocation endpoint.
  const written = { tokenUrl: `${issuer}/token/`, revocationUrl: `${issuer}/revoke_token/` }
  return {
    issuer,
    person: () => ({ ...openId, clientId: 'native', scopes: ['read'], revocationUrl: written.revocationUrl }),
    written: () => ({
      ...written,
      type: 'oauth2',
      flow: 'authorizationCode',
      authorizationUrl: `${issuer}/authorize/`,
      clientId: 'native',
      scopes: ['openid', 'read'],
    }),
    service: {
      owner: 'nobody',
      fields: (wrong) => (secret) => ({
        ...openId,
        flow: 'clientCredentials',
        clientId: 'service',
        clientSecret: secret(wrong ?? 'service-secret'),
        scopes: ['read'],
      }),
    },
    legacy: (wrong) => (secret) => ({
      ...written,
      type: 'oauth2',
      flow: 'password',
      allowPasswordGrant: true,
      clientId: 'legacy',
      clientSecret: secret('legacy-secret'),
      username: 'alice',
      password: secret(wrong ?? PASSWORD),
      scopes: ['read'],
    }),
    visit,
    ask: async (token) => {
      const response = await fetch(resource, { headers: { authorization: `Bearer ${token}` } })
      const text = await response.text()
      return response.ok ? /^file of (.+)$/.exec(text)?.[1] : undefined
    },
    stop: peer.stop,
  }
}

async function visit(url: string, { password = PASSWORD, deny = false }: Visit = {}): Promise<string> {
  const browser = new Browser()
  const login = await browser.open(url)
  const consent = await browser.submit(login, { username: 'alice', password })
  if (!consent.text.includes('name="allow"')) return consent.text
  return (await browser.submit(consent, deny ? {} : { allow: 'Authorize' })).text
}
