import { account, passwordWay, realm } from './facts.ts'
import { credentialsOf, type ProviderCredentials, type UserValues } from './provider.ts'

const API = 'https://api.up42.com/'
const API_SA = 'https://api.sa.up42.com/'
const REALM = 'https://auth.up42.com/realms/public'
const REALM_SA = 'https://auth.sa.up42.com/realms/public'

/**
 * Returns credentials for UP42.
 *
 * @example createAuth({ credentials: [up42({ username, password })] })
 */
export const up42: ProviderCredentials<UserValues<'password'> | UserValues<'password-sa'>> = /* @__PURE__ */ credentialsOf(() => ({
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
  recognizes: { files: [API, API_SA], catalogs: [API, API_SA], issuers: [REALM, REALM_SA] },
  ways: [
    passwordWay({
      credential: 'up42',
      when: 'Accounts of the region Europe, which most are.',
      holes: account('UP42', 'E-mail address'),
      fields: realm(REALM, 'up42-api'),
      sendTo: [API],
    }),
    passwordWay({
      credential: 'up42-sa',
      id: 'password-sa',
      when: 'Accounts of the region Saudi Arabia.',
      holes: account('UP42', 'E-mail address'),
      fields: realm(REALM_SA, 'up42-api'),
      sendTo: [API_SA],
    }),
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
}))
