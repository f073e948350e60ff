import { credentialsOf, type NoValues, type Provider, type ProviderCredentials, type TokenValues, type UserValues } from './provider.ts'

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
] as const

/** The login, and older archives that redirect to it and set cookies. */
const LOGIN = [
  'https://urs.earthdata.nasa.gov/',
  'https://n5eil01u.ecs.nsidc.org/',
  'https://e4ftl01.cr.usgs.gov/',
  'https://daac.ornl.gov/daacdata/',
] as const

/** The files of both; written out, because bundlers keep what spreads a list. */
const FILES = [
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
  'https://n5eil01u.ecs.nsidc.org/',
  'https://e4ftl01.cr.usgs.gov/',
  'https://daac.ornl.gov/daacdata/',
] as const

const TOKEN = { label: 'Token of your profile', kind: 'secret', env: ['EARTHDATA_TOKEN'] } as const

const CLOUD_TOKEN = {
  id: 'earthdata',
  type: 'http',
  scheme: 'bearer',
  token: { hole: 'token' },
  sendTo: CLOUD,
  use: 'by-address',
} as const

const ACCOUNT = {
  username: { label: 'User name', kind: 'text-or-secret', env: ['EARTHDATA_USERNAME'] },
  password: { label: 'Password', kind: 'secret', env: ['EARTHDATA_PASSWORD'] },
} as const

/** The password, for the login and for older archives. */
const PASSWORD_LOGIN = {
  id: 'earthdata-login',
  type: 'http',
  scheme: 'basic',
  username: { hole: 'username' },
  password: { hole: 'password' },
  sendTo: LOGIN,
  use: 'by-address',
} as const

/** The same from the file that programs for Earthdata have used for long. */
const NETRC_LOGIN = {
  id: 'earthdata-login',
  type: 'http',
  scheme: 'basic',
  username: { netrc: 'urs.earthdata.nasa.gov' },
  password: { netrc: 'urs.earthdata.nasa.gov' },
  sendTo: LOGIN,
  use: 'by-address',
} as const

/** A token that the login gives for the password. */
const REQUESTED_TOKEN = {
  id: 'earthdata',
  type: 'http',
  scheme: 'bearer',
  tokenUrl: 'https://urs.earthdata.nasa.gov/api/users/find_or_create_token',
  with: 'earthdata-login',
  expiresField: 'expiration_date',
  revocationUrl: 'https://urs.earthdata.nasa.gov/api/users/revoke_token',
  revocationRequest: 'query',
  sendTo: CLOUD,
  use: 'by-address',
} as const

/** A bucket in us-west-2, with the archive that gives keys for it. */
function keysOf(name: string, archive: string, bucket: string) {
  return {
    id: `earthdata-s3-${name}`,
    type: 's3',
    region: 'us-west-2',
    credentialsUrl: `https://${archive}/s3credentials`,
    with: 'earthdata',
    sendTo: [`s3://${bucket}/`],
    use: 'by-address',
  } as const
}

const EARTHDATA = {
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
    files: FILES,
    catalogs: ['https://cmr.earthdata.nasa.gov/'],
    issuers: [],
    buckets: [
      { name: 'lp-prod-protected' },
      { name: 'nsidc-cumulus-prod-protected' },
      { name: 'ornl-cumulus-prod-protected' },
      { name: 'podaac-ops-cumulus-protected' },
      { name: 'asdc-prod-protected' },
    ],
  },
  ways: [
    {
      id: 'password',
      when: 'All archives, with user name and password: a token is requested and renewed; older archives get the password at the login.',
      works: ['unattended'],
      holes: ACCOUNT,
      credentials: [PASSWORD_LOGIN, REQUESTED_TOKEN],
    },
    {
      id: 'netrc',
      when: 'The same, with the entry of urs.earthdata.nasa.gov in the file ~/.netrc.',
      works: ['unattended'],
      holes: {},
      credentials: [NETRC_LOGIN, REQUESTED_TOKEN],
    },
    {
      id: 'token',
      when: 'Archives of Earthdata Cloud, with the token of your profile.',
      works: ['unattended'],
      holes: { token: TOKEN },
      credentials: [CLOUD_TOKEN],
    },
    {
      id: 's3',
      when: 'Programs in the region us-west-2 read buckets directly, with keys that the archives give for an hour.',
      works: ['unattended'],
      holes: { token: TOKEN },
      credentials: [
        CLOUD_TOKEN,
        /* @__PURE__ */ keysOf('lpdaac', 'data.lpdaac.earthdatacloud.nasa.gov', 'lp-prod-protected'),
        /* @__PURE__ */ keysOf('nsidc', 'data.nsidc.earthdatacloud.nasa.gov', 'nsidc-cumulus-prod-protected'),
        /* @__PURE__ */ keysOf('ornldaac', 'data.ornldaac.earthdata.nasa.gov', 'ornl-cumulus-prod-protected'),
        /* @__PURE__ */ keysOf('podaac', 'archive.podaac.earthdata.nasa.gov', 'podaac-ops-cumulus-protected'),
        /* @__PURE__ */ keysOf('asdc', 'data.asdc.earthdata.nasa.gov', 'asdc-prod-protected'),
      ],
    },
    {
      id: 's3-password',
      when: 'The same keys with user name and password.',
      works: ['unattended'],
      holes: ACCOUNT,
      credentials: [
        PASSWORD_LOGIN,
        REQUESTED_TOKEN,
        /* @__PURE__ */ keysOf('lpdaac', 'data.lpdaac.earthdatacloud.nasa.gov', 'lp-prod-protected'),
        /* @__PURE__ */ keysOf('nsidc', 'data.nsidc.earthdatacloud.nasa.gov', 'nsidc-cumulus-prod-protected'),
        /* @__PURE__ */ keysOf('ornldaac', 'data.ornldaac.earthdata.nasa.gov', 'ornl-cumulus-prod-protected'),
        /* @__PURE__ */ keysOf('podaac', 'archive.podaac.earthdata.nasa.gov', 'podaac-ops-cumulus-protected'),
        /* @__PURE__ */ keysOf('asdc', 'data.asdc.earthdata.nasa.gov', 'asdc-prod-protected'),
      ],
    },
  ],
  notes: [
    'A token is valid for 60 days, and a person may have two. One of your profile ends with AUTH_REJECTED; one that is requested is renewed.',
    'A requested token is that of your account, which other programs may use as well: logout revokes it for them, too.',
    'Some archives and collections open only after their terms were accepted in the profile.',
    'Files redirect to signed URLs, which get no token.',
  ],
} as const satisfies Provider

/**
 * Returns credentials for NASA Earthdata: of user name and password, of the entry in `~/.netrc` without values, or of a token. With `way: 's3'`
 * (token) and `'s3-password'` they have keys in the region of the data as well.
 *
 * @example createAuth({ credentials: [earthdata({ username: 'ada', password: { env: 'EARTHDATA_PASSWORD' } })] })
 */
export const earthdata: ProviderCredentials<
  UserValues<'password'> | NoValues<'netrc'> | TokenValues<'token'> | TokenValues<'s3'> | UserValues<'s3-password'>
> = /* @__PURE__ */ credentialsOf(EARTHDATA)
