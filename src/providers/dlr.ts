import { account, BASIC, eodag, passwordWay } from './facts.ts'
import { credentialsOf, type ProviderCredentials, type UserValues } from './provider.ts'

const FILES = 'https://download.geoservice.dlr.de/'

/**
 * Returns credentials for DLR's EOC Geoservice.
 *
 * @example createAuth({ credentials: [dlr({ username, password })] })
 */
export const dlr: ProviderCredentials<UserValues<'password'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'dlr',
  title: 'DLR EOC Geoservice',
  homepage: 'https://geoservice.dlr.de/',
  account: {
    url: 'https://sso.eoc.dlr.de/tdm30-edited/selfservice/register',
    text: 'Register for the TanDEM-X DEM and accept its licence.',
  },
  sources: [
    { url: 'https://geoservice.dlr.de/web/dataguide/tdm90', proves: 'registration and download of the TanDEM-X DEM' },
    eodag('dlr_eoc_geoservice', 'host of files, user name and password, STAC API'),
  ],
  checked: '2026-11-28',
  recognizes: { files: [FILES], catalogs: ['https://geoservice.dlr.de/eoc/ogc/stac/'] },
  ways: [
    passwordWay({
      credential: 'dlr',
      when: 'The TanDEM-X DEMs, with the user name and password of your account.',
      holes: account('DLR'),
      fields: BASIC,
      sendTo: [FILES],
    }),
  ],
  notes: ['Many files are public. EnMAP, the Supersites and other products need a login page that sets cookies, which does not work.'],
}))
