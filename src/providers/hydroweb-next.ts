import { eodag, keyWay } from './facts.ts'
import { type ApiKeyValues, credentialsOf, type ProviderCredentials } from './provider.ts'

const API = 'https://hydroweb.next.theia-land.fr/'

/**
 * Returns credentials for hydroweb.next.
 *
 * @example createAuth({ credentials: [hydrowebNext({ apiKey: key })] })
 */
export const hydrowebNext: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'hydroweb-next',
  title: 'hydroweb.next',
  homepage: 'https://hydroweb.next.theia-land.fr/',
  account: { url: 'https://hydroweb.next.theia-land.fr/', text: 'Register there and create an API key in your account.' },
  sources: [
    eodag('hydroweb_next', 'STAC API, header of the key'),
    { url: 'https://pypi.org/project/py-hydroweb/', proves: 'account, key and its variable' },
  ],
  checked: '2026-11-28',
  recognizes: { files: [API], catalogs: [API] },
  ways: [
    keyWay({
      credential: 'hydroweb-next',
      when: 'Catalog and files, with the API key of your account.',
      name: 'X-API-Key',
      env: ['HYDROWEB_API_KEY'],
      sendTo: [API],
    }),
  ],
  notes: ['The catalog needs the key as well as its files.'],
}))
