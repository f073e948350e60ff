import { account, passwordWay, realm } from './facts.ts'
import { credentialsOf, type ProviderCredentials, type UserValues } from './provider.ts'

const FILES = 'https://services.terrascope.be/download/'
const REALM = 'https://sso.terrascope.be/auth/realms/terrascope'

/**
 * Returns credentials for VITO Terrascope.
 *
 * @example createAuth({ credentials: [terrascope({ username, password })] })
 */
export const terrascope: ProviderCredentials<UserValues<'password'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'terrascope',
  title: 'VITO Terrascope',
  homepage: 'https://terrascope.be/',
  account: { url: 'https://sso.terrascope.be/auth/realms/terrascope/account/', text: 'Register there with the link below the login.' },
  sources: [
    {
      url: 'https://docs.terrascope.be/Developers/WebServices/Authentication/Authentication.html',
      proves: 'client public, password grant, life of tokens, host of files',
    },
    {
      url: 'https://github.com/VITObelgium/terracatalogueclient/blob/master/terracatalogueclient/resources/terrascope.ini',
      proves: 'realm and catalogue',
    },
  ],
  checked: '2026-11-28',
  recognizes: { files: [FILES], catalogs: ['https://services.terrascope.be/', 'https://stac.terrascope.be/'], issuers: [REALM] },
  ways: [
    passwordWay({
      credential: 'terrascope',
      when: 'All downloads, with the user name and password of your account.',
      holes: account('TERRASCOPE'),
      fields: realm(REALM, 'public'),
      sendTo: [FILES],
    }),
  ],
  notes: ['An access token is valid for 5 minutes, and can be refreshed for an hour.', 'The data host answers 401 without a token.'],
}))
