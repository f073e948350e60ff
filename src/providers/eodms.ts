import { ACCOUNT, account } from './facts.ts'
import { credentialsOf, type ProviderCredentials, type UserValues } from './provider.ts'

const HOSTS = ['https://www.eodms-sgdot.nrcan-rncan.gc.ca/', 'https://eodms-sgdot.nrcan-rncan.gc.ca/']

/**
 * Returns credentials for NRCan EODMS.
 *
 * @example createAuth({ credentials: [eodms({ username, password })] })
 */
export const eodms: ProviderCredentials<UserValues<'password'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'eodms',
  title: 'NRCan EODMS',
  homepage: 'https://www.eodms-sgdot.nrcan-rncan.gc.ca/',
  account: { url: 'https://www.eodms-sgdot.nrcan-rncan.gc.ca/', text: 'Register there; access to some collections must be requested.' },
  sources: [
    { url: 'https://github.com/eodms-sgdot/py-eodms-dds/blob/main/eodms_dds/aaa.py', proves: 'login by JSON, tokens and their refresh' },
    { url: 'https://github.com/eodms-sgdot/py-eodms-dds/blob/main/eodms_dds/dds.py', proves: 'product URLs and their answers' },
  ],
  checked: '2026-11-28',
  recognizes: { files: HOSTS, catalogs: HOSTS },
  ways: [
    {
      id: 'password',
      when: 'All products, with the user name and password of your account.',
      works: ['unattended'],
      holes: account('EODMS', 'User name', 'EODMS_USER'),
      credentials: [
        {
          id: 'eodms',
          type: 'oauth2',
          flow: 'password',
          allowPasswordGrant: true,
          tokenUrl: 'https://www.eodms-sgdot.nrcan-rncan.gc.ca/aaa/v1/login',
          tokenRequest: 'json',
          clientId: 'eodms',
          clientAuthentication: 'none',
          ...ACCOUNT,
          sendTo: HOSTS,
        },
      ],
    },
  ],
  notes: [
    'A product URL returns JSON with a `download_url`, or 202 while the product is being prepared; `download` and `fetch` follow it.',
    'Each token needs a login, and the service limits logins.',
  ],
  // 202 with `status` while a product is prepared, then `download_url`, which is requested without the token: eodms_dds/dds.py.
  order: {
    files: [
      'https://www.eodms-sgdot.nrcan-rncan.gc.ca/dds/v1/item/{catalog}/{collection}/{item}',
      'https://eodms-sgdot.nrcan-rncan.gc.ca/dds/v1/item/{catalog}/{collection}/{item}',
    ],
    status: { url: '{href}', answer: { location: '/download_url' } },
    location: '{location}',
  },
}))
