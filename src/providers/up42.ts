import { credentialsOf, type Provider, type ProviderCredentials, type UserValues } from './provider.ts'

const UP42 = {
  id: 'up42',
  title: 'UP42',
  homepage: 'https://up42.com/',
  account: { url: 'https://console.up42.com/', text: 'Register there; e-mail address and password are those of the console.' },
  sources: [
    { url: 'https://docs.up42.com/developers/authentication', proves: 'realm, client, password grant, life of tokens' },
    { url: 'https://github.com/up42/up42-py/blob/master/up42/host.py', proves: 'hosts of both regions' },
    { url: 'https://github.com/up42/up42-py/blob/master/up42/stac.py', proves: 'URLs of assets, and the request for their signed URL' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://api.up42.com/', 'https://api.sa.up42.com/'],
    catalogs: ['https://api.up42.com/', 'https://api.sa.up42.com/'],
    issuers: ['https://auth.up42.com/realms/public', 'https://auth.sa.up42.com/realms/public'],
    buckets: [],
  },
  ways: [
    {
      id: 'password',
      when: 'Accounts of the region Europe, which most are.',
      works: ['unattended'],
      holes: {
        username: { label: 'E-mail address', kind: 'text-or-secret', env: ['UP42_USERNAME'] },
        password: { label: 'Password', kind: 'secret', env: ['UP42_PASSWORD'] },
      },
      credentials: [
        {
          id: 'up42',
          type: 'openIdConnect',
          openIdConnectUrl: 'https://auth.up42.com/realms/public/.well-known/openid-configuration',
          flow: 'password',
          allowPasswordGrant: true,
          clientId: 'up42-api',
          username: { hole: 'username' },
          password: { hole: 'password' },
          sendTo: ['https://api.up42.com/'],
          use: 'by-address',
        },
      ],
    },
    {
      id: 'password-sa',
      when: 'Accounts of the region Saudi Arabia.',
      works: ['unattended'],
      holes: {
        username: { label: 'E-mail address', kind: 'text-or-secret', env: ['UP42_USERNAME'] },
        password: { label: 'Password', kind: 'secret', env: ['UP42_PASSWORD'] },
      },
      credentials: [
        {
          id: 'up42-sa',
          type: 'openIdConnect',
          openIdConnectUrl: 'https://auth.sa.up42.com/realms/public/.well-known/openid-configuration',
          flow: 'password',
          allowPasswordGrant: true,
          clientId: 'up42-api',
          username: { hole: 'username' },
          password: { hole: 'password' },
          sendTo: ['https://api.sa.up42.com/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: [
    'An access token is valid for 5 minutes, and can be refreshed for half an hour.',
    'Assets are those of your storage, which are paid already: a signed URL is requested for each.',
  ],
  // POST to the URL of an asset in the storage with `/download-url`, and `url` of its answer: up42/stac.py and up42/asset.py of up42-py.
  order: {
    files: ['https://api.up42.com/v2/assets/{asset:uuid}', 'https://api.sa.up42.com/v2/assets/{asset:uuid}'],
    request: { method: 'POST', url: '{href}/download-url', answer: { location: '/url' } },
    location: '{location}',
  },
} as const satisfies Provider

/**
 * Returns credentials for UP42.
 *
 * @example createAuth({ credentials: [up42({ username, password })] })
 */
export const up42: ProviderCredentials<UserValues<'password'> | UserValues<'password-sa'>> = /* @__PURE__ */ credentialsOf(UP42)
