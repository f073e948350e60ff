/** The page of the tests of kept credentials: the global `walletPage` does what they say. */
import { showFilm } from '../../examples/adapters/film.ts'
import { createLogins, indexedDbStore } from '../../src/browser/index.ts'
import { createLiveAuth } from '../../src/browser/live-auth.ts'
import { assetOf, isAuthError } from '../../src/index.ts'

const parameters = new URLSearchParams(location.search)
const [data = '', provider = ''] = ['data', 'provider'].map((name) => parameters.get(name) ?? undefined)
const endpoints = { authorizationUrl: `${provider}/authorize`, tokenUrl: `${provider}/token`, revocationUrl: `${provider}/revoke` }
const auth = createLiveAuth({ credentials: [], session: indexedDbStore(), typed: [data], anonymous: 'allow' })
const logins = createLogins(auth, { callback: '/callback.html' })
const { revocationUrl: _, ...flow } = endpoints
const schemes = {
  portal: { type: 'oauth2', flows: { authorizationCode: { ...flow, scopes: {} } } },
  key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
}
const item = (ref: 'portal' | 'key', path: string) => ({
  type: 'Feature',
  properties: { 'auth:schemes': schemes },
  assets: { file: { href: `${data}/${path}`, 'auth:refs': [ref] } },
})
const outcome = (work: Promise<unknown>) => work.catch((error: unknown) => (isAuthError(error) ? error.code : String(error)))

const kept = {
  async ids() {
    await auth.ready()
    return auth.credentials.list().map(({ id }) => id)
  },
  read: (ref: 'portal' | 'key', path: string = ref) =>
    outcome(auth.fetch(assetOf(item(ref, path), 'file')).then((response) => response.text())),
  /** Seconds of the film of the archive, or the code of an error. */
  film: () =>
    new Promise<number | string>((resolve) => {
      const video = document.createElement('video')
      video.onloadedmetadata = () => resolve(Math.round(video.duration))
      showFilm(video, auth, assetOf(item('portal', 'film'), 'file'), (error) => resolve(isAuthError(error) ? error.code : String(error)))
    }),
  addLogin: () =>
    outcome(
      auth.credentials.add({
        id: 'portal',
        type: 'oauth2',
        flow: 'authorizationCode',
        ...endpoints,
        clientId: 'page',
        sendTo: [`${data}/`],
      }),
    ),
  addKey: (value: string, keep: boolean) =>
    outcome(auth.credentials.add({ id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value, sendTo: [`${data}/key`] }, { keep })),
  changeKey: (value: string) => outcome(auth.credentials.change('key', { value })),
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
  logoutAll: () => outcome(logins.logoutAll()),
  needs: () => auth.credentials.needs().map(({ credential, error }) => `${credential} ${error.code}`),
  /** Everything that the browser keeps for this origin, as text. */
  async kept() {
    const texts = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage })]
    for (const store of ['sessions', 'credentials']) {
      texts.push(
        await new Promise<string>((resolve, reject) => {
          const opening = indexedDB.open('stac-auth')
          opening.onerror = () => reject(opening.error)
          opening.onsuccess = () => {
            const all = opening.result.transaction(store).objectStore(store).getAll()
            all.onsuccess = () => resolve(JSON.stringify(all.result))
          }
        }),
      )
    }
    return texts.join('\n')
  },
}
export type WalletPage = typeof kept

Object.assign(globalThis, { walletPage: kept })
