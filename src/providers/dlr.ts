import { credentialsOf, type Provider, type ProviderCredentials, type UserValues } from './provider.ts'

const DLR = {
  id: 'dlr',
  title: 'DLR EOC Geoservice',
  homepage: 'https://geoservice.dlr.de/',
  account: {
    url: 'https://sso.eoc.dlr.de/tdm30-edited/selfservice/register',
    text: 'Register for the TanDEM-X DEM and accept its licence.',
  },
  sources: [
    { url: 'https://geoservice.dlr.de/web/dataguide/tdm90', proves: 'registration and download of the TanDEM-X DEM' },
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/dlr_eoc_geoservice.yml',
      proves: 'host of files, user name and password, STAC API',
    },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://download.geoservice.dlr.de/'],
    catalogs: ['https://geoservice.dlr.de/eoc/ogc/stac/'],
    issuers: [],
    buckets: [],
  },
  ways: [
    {
      id: 'password',
      when: 'The TanDEM-X DEMs, with the user name and password of your account.',
      works: ['unattended'],
      holes: {
        username: { label: 'User name', kind: 'text-or-secret', env: ['DLR_USERNAME'] },
        password: { label: 'Password', kind: 'secret', env: ['DLR_PASSWORD'] },
      },
      credentials: [
        {
          id: 'dlr',
          type: 'http',
          scheme: 'basic',
          username: { hole: 'username' },
          password: { hole: 'password' },
          sendTo: ['https://download.geoservice.dlr.de/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['Many files are public. EnMAP, the Supersites and other products need a login page that sets cookies, which does not work.'],
} as const satisfies Provider

/**
 * Returns credentials for DLR's EOC Geoservice.
 *
 * @example createAuth({ credentials: [dlr({ username, password })] })
 */
export const dlr: ProviderCredentials<UserValues<'password'>> = /* @__PURE__ */ credentialsOf(DLR)
