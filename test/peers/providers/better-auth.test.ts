/** better-auth below `/api/auth`: its pages are those of an application, which ask it in JSON. */
import { startPeer } from '../peer.ts'
import { Browser, introspected, PASSWORD, type Provider, type Visit } from './provider.ts'
import { testProvider } from './suite.ts'

testProvider('better-auth', ['browser', 'consent', 'written', 'device', 'service'], start)

const ALICE = 'alice@example.com'

interface Facts {
  readonly issuer: string
  readonly clients: { readonly native: string; readonly service: { readonly id: string; readonly secret: string } }
}

async function start(): Promise<Provider | { readonly missing: string }> {
  const peer = await startPeer<Facts>('better-auth')
  if ('missing' in peer) return peer
  const { issuer, clients } = peer.facts
  const scopes = ['openid', 'offline_access', 'read']
  return {
    issuer,
    person: () => ({ type: 'openIdConnect', issuer, clientId: clients.native, scopes }),
    written: () => ({
      type: 'oauth2',
      flow: 'authorizationCode',
      authorizationUrl: `${issuer}/oauth2/authorize`,
      tokenUrl: `${issuer}/oauth2/token`,
      clientId: clients.native,
      scopes,
    }),
    service: {
      owner: clients.service.id,
      fields: (wrong) => (secret) => ({
        type: 'openIdConnect',
        issuer,
        flow: 'clientCredentials',
        clientId: clients.service.id,
        clientSecret: secret(wrong ?? clients.service.secret),
        scopes: ['read'],
      }),
    },
    visit: (url, visit) => login(issuer, url, visit),
    approve: (url, code) => approve(issuer, url, code),
    // Introspection is for the client that a token was issued to; a person has claims.
    ask: async (token) => {
      const claims = await fetch(`${issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } })
      if (claims.ok) return 'alice'
      const told = await introspected(`${issuer}/oauth2/introspect`, clients.service, token)
      return told === undefined ? undefined : String(told.client_id)
    },
    stop: peer.stop,
  }
}

/** What the scripts of the pages of an application do. */
async function login(issuer: string, url: string, { password = PASSWORD, deny = false }: Visit = {}): Promise<string> {
  const browser = new Browser()
  const page = await browser.open(url)
  const signedIn = await browser.open(`${issuer}/sign-in/email`, { email: ALICE, password, oauth_query: page.url.search.slice(1) })
  const next = forwardedTo(signedIn.text)
  if (next === undefined) return signedIn.text
  const consent = await browser.open(new URL(next, issuer))
  const oauth_query = consent.url.search.slice(1)
  const agreed = await browser.open(`${issuer}/oauth2/consent`, { accept: !deny, oauth_query })
  const last = forwardedTo(agreed.text)
  return last === undefined ? agreed.text : (await browser.open(last)).text
}

function forwardedTo(text: string): string | undefined {
  const { url, redirect_uri } = JSON.parse(text) as { readonly url?: string; readonly redirect_uri?: string }
  return url ?? redirect_uri
}

async function approve(issuer: string, _url: string, code: string): Promise<void> {
  const browser = new Browser()
  await browser.open(`${issuer}/sign-in/email`, { email: ALICE, password: PASSWORD })
  await browser.open(`${issuer}/device?user_code=${encodeURIComponent(code)}`)
  const approved = await browser.open(`${issuer}/device/approve`, { userCode: code })
  if (approved.status !== 200) throw new Error(approved.text)
}
