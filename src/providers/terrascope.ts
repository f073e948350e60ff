import { credentialsOf, type Provider, type ProviderCredentials, type UserValues } from './provider.ts'

const TERRASCOPE = {
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
  recognizes: {
    files: ['https://services.terrascope.be/download/'],
    catalogs: ['https://services.terrascope.be/', 'https://stac.terrascope.be/'],
    issuers: ['https://sso.terrascope.be/auth/realms/terrascope'],
    buckets: [],
  },
  ways: [
    {
      id: 'password',
      when: 'All downloads, with the user name and password of your account.',
      works: ['unattended'],
      holes: {
        username: { label: 'User name', kind: 'text-or-secret', env: ['TERRASCOPE_USERNAME'] },
        password: { label: 'Password', kind: 'secret', env: ['TERRASCOPE_PASSWORD'] },
      },
      credentials: [
        {
          id: 'terrascope',
          type: 'openIdConnect',
          openIdConnectUrl: 'https://sso.terrascope.be/auth/realms/terrascope/.well-known/openid-configuration',
          flow: 'password',
          allowPasswordGrant: true,
          clientId: 'public',
          username: { hole: 'username' },
          password: { hole: 'password' },
          sendTo: ['https://services.terrascope.be/download/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['An access token is valid for 5 minutes, and can be refreshed for an hour.', 'The data host answers 401 without a token.'],
} as const satisfies Provider

/**
 * Returns credentials for VITO Terrascope.
 *
 * @example createAuth({ credentials: [terrascope({ username, password })] })
 */
export const terrascope: ProviderCredentials<UserValues<'password'>> = /* @__PURE__ */ credentialsOf(TERRASCOPE)
