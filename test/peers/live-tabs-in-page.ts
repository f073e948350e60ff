/** The page of the tests with two tabs: the global `app` does what they say. */
import { indexedDbStore } from '../../src/browser/index.ts'
import { createLiveAuth, type LiveChange } from '../../src/browser/live-auth.ts'
import { assetOf, isAuthError } from '../../src/index.ts'

const parameters = new URLSearchParams(location.search)
const [data = '', provider = ''] = ['data', 'provider'].map((name) => parameters.get(name) ?? undefined)
const endpoints = { authorizationUrl: `${provider}/authorize`, tokenUrl: `${provider}/token` }
const changes: LiveChange[] = []
const auth = createLiveAuth({
  credentials: [
    { id: 'portal', type: 'oauth2', flow: 'authorizationCode', ...endpoints, clientId: 'page', sendTo: [`${data}/`] },
    { id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value: 'right-key', sendTo: [`${data}/`] },
  ],
  session: indexedDbStore(),
})
auth.credentials.subscribe((change) => changes.push(change))

const schemes = {
  portal: { type: 'oauth2', flows: { authorizationCode: { ...endpoints, scopes: {} } } },
  key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
}
const item = (ref: string) => ({
  type: 'Feature',
  properties: { 'auth:schemes': schemes },
  assets: { file: { href: `${data}/${ref}`, 'auth:refs': [ref] } },
})
const outcome = (work: Promise<unknown>) => work.catch((error: unknown) => (isAuthError(error) ? error.code : String(error)))

const app = {
  changes,
  read: (ref: string) => outcome(auth.fetch(assetOf(item(ref), 'file')).then((response) => response.text())),
  /** A login whose page answers at once. */
  login: () =>
    outcome(
      auth.login('portal', {
        redirect: async () => ({
          uri: `${location.origin}/callback.html`,
          answer: async (url) => new URL(`${location.origin}/callback.html?code=c&state=${new URL(url).searchParams.get('state')}`),
          close: async () => {},
        }),
      }),
    ),
  logout: () => outcome(auth.logout('portal')),
  remove: (id: string) => outcome(auth.credentials.remove(id)),
}
Object.assign(globalThis, { app })
