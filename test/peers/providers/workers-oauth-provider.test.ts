/** Cloudflare's OAuth provider for Workers: no OpenID Connect, tokens with colons, revocation at the token endpoint. */
import { startPeer } from '../peer.ts'
import { Browser, PASSWORD, type Provider, type Visit } from './provider.ts'
import { testProvider } from './suite.ts'

testProvider('workers-oauth-provider', ['browser', 'consent'], start)

interface Facts {
  readonly issuer: string
  readonly resource: string
  readonly clients: { readonly native: string }
}

async function start(): Promise<Provider | { readonly missing: string }> {
  const peer = await startPeer<Facts>('workers-oauth-provider')
  if ('missing' in peer) return peer
  const { issuer, resource, clients } = peer.facts
  return {
    issuer,
    person: () => ({ type: 'oauth2', flow: 'authorizationCode', issuer, clientId: clients.native, scopes: ['read'] }),
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
  const page = await browser.open(url)
  return (await browser.submit(page, { username: 'alice', password, decision: deny ? 'deny' : 'approve' })).text
}
