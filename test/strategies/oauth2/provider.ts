/** A user of the real authorization server: engine, entries, and the person in front of a browser. */

import { onTestFinished } from 'vitest'
import type { Interaction, Redirection } from '../../../src/auth/auth.ts'
import { type AuthOptions, createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../../src/auth/credential.ts'
import { memoryStore, type SessionStore } from '../../../src/auth/session.ts'
import { undiciTransport } from '../../../src/node/transport/undici-transport.ts'
import { target } from '../../harness/documents.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type AuthorizationServer, SECRETS, type ServerSettings, startAuthorizationServer } from '../../servers/authorization-server.ts'
import { browse } from '../../servers/person.ts'

export interface Stage {
  readonly server: AuthorizationServer
  /** What the store holds, all keys. */
  readonly kept: ReadonlyMap<string, string>
  readonly store: SessionStore
  /** Entries that fit the server's clients. */
  readonly entries: Readonly<Record<'service' | 'legacy' | 'person' | 'exchanger', CredentialObject>>
  engine(credential: CredentialObject | readonly CredentialObject[], options?: Partial<AuthOptions>): ReturnType<typeof createAuth>
  /** The protected file, as a document describes it for that entry. */
  file(credential: CredentialObject): ReturnType<typeof target>
}

/** The server and what its user has; both end with the test. */
export async function provided(settings: ServerSettings = {}): Promise<Stage> {
  const server = await startAuthorizationServer(settings)
  onTestFinished(() => server.close())
  const { issuer, resource } = server
  const kept = new Map<string, string>()
  const store: SessionStore = {
    ...memoryStore(),
    read: async (key) => kept.get(key),
    write: async (key, text) => {
      kept.set(key, text)
    },
    remove: async (key) => {
      kept.delete(key)
    },
  }
  const common = { sendTo: `${issuer}/` }
  const machine = { type: 'oauth2', tokenUrl: `${issuer}/token`, scopes: ['read'], ...common }
  const entries = {
    service: { ...machine, id: 'service', flow: 'clientCredentials', clientId: 'service', clientSecret: SECRETS.service },
    legacy: { ...machine, id: 'legacy', flow: 'password', clientId: 'legacy', clientSecret: SECRETS.legacy },
    person: { id: 'person', type: 'openIdConnect', issuer, clientId: 'native', scopes: ['offline_access', 'read'], ...common },
    exchanger: { ...machine, id: 'exchanger', flow: 'tokenExchange', clientId: 'exchanger', clientSecret: SECRETS.exchanger },
  }
  const transport = undiciTransport({ env: {} })
  return {
    server,
    kept,
    store,
    entries,
    engine: (credentials, options = {}) =>
      createAuth({ credentials: [credentials].flat().map((one) => unchecked(one)), transport, session: store, ...options }),
    file: (credential) => target(schemeOf(credential, issuer), resource),
  }
}

function schemeOf({ type, flow, tokenUrl, authorizationUrl }: CredentialObject, issuer: string): Record<string, unknown> {
  if (type === 'openIdConnect') return { type, openIdConnectUrl: `${issuer}/.well-known/openid-configuration` }
  if (type === 'http') return { type, scheme: 'dpop' }
  return { type, flows: { [String(flow)]: { ...(authorizationUrl ? { authorizationUrl } : {}), tokenUrl, scopes: {} } } }
}

/** A browser, and what somebody does to its answer on the way back; it comes back even when it is not the login's own. */
export function browser(change: (callback: URL) => URL = (callback) => callback, deny = false) {
  const seen: { url: string; callbacks: URL[]; ours: boolean; closed: boolean } = { url: '', callbacks: [], ours: false, closed: false }
  const redirect = async (): Promise<Redirection> => ({
    uri: 'http://127.0.0.1/callback',
    answer: async (url, isOurs) => {
      seen.url = url
      const end = await browse(url, { stop: ({ pathname }) => pathname === '/callback', deny })
      if (!(end instanceof URL)) throw new Error(`no way back: ${end.slice(0, 500)}`)
      const callback = change(end)
      seen.callbacks.push(callback)
      seen.ours = isOurs(callback)
      return callback
    },
    close: async () => {
      seen.closed = true
    },
  })
  const interaction: Interaction = { redirect }
  return { interaction, seen }
}
