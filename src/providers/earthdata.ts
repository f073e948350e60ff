import { account, BASIC, tokenWay } from './facts.ts'
import {
  type CredentialTemplate,
  credentialsOf,
  type NoValues,
  type ProviderCredentials,
  type TokenValues,
  type UserValues,
  type Way,
} from './provider.ts'

/** Archives of Earthdata Cloud, which take the token: the hosts of their `/s3credentials`. */
const CLOUD = [
  'https://data.nsidc.earthdatacloud.nasa.gov/',
  'https://data.ghrc.earthdata.nasa.gov/',
  'https://archive.podaac.earthdata.nasa.gov/',
  'https://*.asf.alaska.edu/',
  'https://data.ornldaac.earthdata.nasa.gov/',
  'https://data.lpdaac.earthdatacloud.nasa.gov/',
  'https://data.gesdisc.earthdata.nasa.gov/',
  'https://*.gesdisc.eosdis.nasa.gov/',
  'https://obdaac-tea.earthdatacloud.nasa.gov/',
  'https://data.laadsdaac.earthdatacloud.nasa.gov/',
  'https://data.asdc.earthdata.nasa.gov/',
]

const URS = 'https://urs.earthdata.nasa.gov/'

/** Older archives, which redirect to the login and set cookies. */
const OLDER = ['https://n5eil01u.ecs.nsidc.org/', 'https://e4ftl01.cr.usgs.gov/', 'https://daac.ornl.gov/daacdata/']

/** Buckets in us-west-2, with the archives that give keys for them. */
const BUCKETS = [
  { name: 'lpdaac', archive: 'data.lpdaac.earthdatacloud.nasa.gov', bucket: 'lp-prod-protected' },
  { name: 'nsidc', archive: 'data.nsidc.earthdatacloud.nasa.gov', bucket: 'nsidc-cumulus-prod-protected' },
  { name: 'ornldaac', archive: 'data.ornldaac.earthdata.nasa.gov', bucket: 'ornl-cumulus-prod-protected' },
  { name: 'podaac', archive: 'archive.podaac.earthdata.nasa.gov', bucket: 'podaac-ops-cumulus-protected' },
  { name: 'asdc', archive: 'data.asdc.earthdata.nasa.gov', bucket: 'asdc-prod-protected' },
]

const bucketKeys = () =>
  BUCKETS.map(({ name, archive, bucket }) => ({
    id: `earthdata-s3-${name}`,
    type: 's3',
    region: 'us-west-2',
    credentialsUrl: `https://${archive}/s3credentials`,
    with: 'earthdata',
    sendTo: [`s3://${bucket}/`],
    use: 'by-address',
  }))

/** The password, for the login and for older archives. */
const passwordLogin = () => ({ id: 'earthdata-login', ...BASIC, sendTo: [URS, ...OLDER], use: 'by-address' })

const NETRC = { netrc: 'urs.earthdata.nasa.gov' }

/** A token that the login gives for the password. */
const requestedToken = () => ({
  id: 'earthdata',
  type: 'http',
  scheme: 'bearer',
  tokenUrl: `${URS}api/users/find_or_create_token`,
  with: 'earthdata-login',
  expiresField: 'expiration_date',
  revocationUrl: `${URS}api/users/revoke_token`,
  revocationRequest: 'query',
  sendTo: CLOUD,
  use: 'by-address',
})

/** The token of a profile, and keys that are made with it. */
function byToken(id: string, when: string, ...keys: readonly CredentialTemplate[]): Way {
  const label = 'Token of your profile'
  const way = tokenWay({ id, credential: 'earthdata', when, label, env: ['EARTHDATA_TOKEN'], sendTo: CLOUD })
  return { ...way, credentials: [...way.credentials, ...keys] }
}

/**
 * Returns credentials for NASA Earthdata: of user name and password, of the entry in `~/.netrc` without values, or of a token. With `way: 's3'`
 * (token) and `'s3-password'` they have keys in the region of the data as well.
 *
 * @example createAuth({ credentials: [earthdata({ username: 'ada', password: { env: 'EARTHDATA_PASSWORD' } })] })
 */
export const earthdata: ProviderCredentials<
  UserValues<'password'> | NoValues<'netrc'> | TokenValues<'token'> | TokenValues<'s3'> | UserValues<'s3-password'>
> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'earthdata',
  title: 'NASA Earthdata',
  homepage: 'https://www.earthdata.nasa.gov/',
  account: { url: 'https://urs.earthdata.nasa.gov/', text: 'Register there; user name and password are enough.' },
  sources: [
    { url: 'https://github.com/earthaccess-dev/earthaccess/blob/main/earthaccess/daac.py', proves: 'hosts of the archives' },
    {
      url: 'https://github.com/earthaccess-dev/earthaccess/blob/main/earthaccess/auth.py',
      proves: 'request of a token, its expiration_date, variables, machine of ~/.netrc',
    },
    {
      url: 'https://urs.earthdata.nasa.gov/documentation/for_users/user_token',
      proves: 'life and number of tokens, Basic for requests, find_or_create_token, revoke_token',
    },
    { url: 'https://archive.podaac.earthdata.nasa.gov/s3credentialsREADME', proves: 'S3 keys for an hour, in us-west-2 only' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: [...CLOUD, ...OLDER],
    catalogs: ['https://cmr.earthdata.nasa.gov/'],
    buckets: BUCKETS.map(({ bucket }) => ({ name: bucket })),
  },
  ways: [
    {
      id: 'password',
      when: 'All archives, with user name and password: a token is requested and renewed; older archives get the password at the login.',
      works: ['unattended'],
      holes: account('EARTHDATA'),
      credentials: [passwordLogin(), requestedToken()],
    },
    {
      id: 'netrc',
      when: 'The same, with the entry of urs.earthdata.nasa.gov in the file ~/.netrc.',
      works: ['unattended'],
      holes: {},
      credentials: [{ ...passwordLogin(), username: NETRC, password: NETRC }, requestedToken()],
    },
    byToken('token', 'Archives of Earthdata Cloud, with the token of your profile.'),
    byToken('s3', 'Programs in the region us-west-2 read buckets directly, with keys that the archives give for an hour.', ...bucketKeys()),
    {
      id: 's3-password',
      when: 'The same keys with user name and password.',
      works: ['unattended'],
      holes: account('EARTHDATA'),
      credentials: [passwordLogin(), requestedToken(), ...bucketKeys()],
    },
  ],
  notes: [
    'A token is valid for 60 days, and a person may have two. One of your profile ends with AUTH_REJECTED; one that is requested is renewed.',
    'A requested token is that of your account, which other programs may use as well: logout revokes it for them, too.',
    'Some archives and collections open only after their terms were accepted in the profile.',
    'Files redirect to signed URLs, which get no token.',
  ],
}))
