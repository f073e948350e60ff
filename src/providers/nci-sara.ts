import { account, BASIC, eodag, passwordWay } from './facts.ts'
import { credentialsOf, type ProviderCredentials, type UserValues } from './provider.ts'

const HOST = 'https://copernicus.nci.org.au/'

/**
 * Returns credentials for Sentinel Australasia Regional Access.
 *
 * @example createAuth({ credentials: [nciSara({ username, password })] })
 */
export const nciSara: ProviderCredentials<UserValues<'password'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'nci-sara',
  title: 'Sentinel Australasia Regional Access (NCI)',
  homepage: 'https://www.copernicus.gov.au/',
  account: { url: 'https://copernicus.nci.org.au/sara.client/', text: 'Register there.' },
  sources: [eodag('sara', 'host of catalog and files, Basic, status 403')],
  checked: '2026-11-28',
  recognizes: { files: [HOST], catalogs: [HOST] },
  ways: [
    passwordWay({
      credential: 'nci-sara',
      when: 'All downloads, with user name and password of your account.',
      holes: account('SARA', 'User name (e-mail address)'),
      fields: BASIC,
      sendTo: [HOST],
    }),
  ],
  notes: ['The server answers 403 without a password.'],
}))
