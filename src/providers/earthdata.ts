import { credentialsOf, type Provider, type ProviderCredentials, type TokenValues, type UserValues } from './provider.ts'

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
  account: { url: 'https://urs.earthdata.nasa.gov/', text: 'Register there; "Generate Token" in the profile makes a token.' },
  sources: [
    { url: 'https://github.com/earthaccess-dev/earthaccess/blob/main/earthaccess/daac.py', proves: 'hosts of the archives' },
    { url: 'https://github.com/earthaccess-dev/earthaccess/blob/main/earthaccess/auth.py', proves: 'token as Bearer, variables, login' },
    { url: 'https://urs.earthdata.nasa.gov/documentation/for_users/user_token', proves: 'life and number of tokens' },
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
      id: 'token',
      when: 'Archives of Earthdata Cloud, with the token of your profile.',
      works: ['unattended'],
      holes: { token: TOKEN },
      credentials: [CLOUD_TOKEN],
    },
    {
      id: 'password',
      when: 'Older archives that redirect to the login page, with user name and password.',
      works: ['unattended'],
      holes: {
        username: { label: 'User name', kind: 'text-or-secret', env: ['EARTHDATA_USERNAME'] },
        password: { label: 'Password', kind: 'secret', env: ['EARTHDATA_PASSWORD'] },
      },
      credentials: [
        {
          id: 'earthdata-login',
          type: 'http',
          scheme: 'basic',
          username: { hole: 'username' },
          password: { hole: 'password' },
          sendTo: LOGIN,
          use: 'by-address',
        },
      ],
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
  ],
  notes: [
    'A token is valid for 60 days, and a person may have two; the error after its end is AUTH_REJECTED.',
    'Some archives and collections open only after their terms were accepted in the profile.',
    'Files redirect to signed URLs, which get no token.',
  ],
} as const satisfies Provider

/**
 * Returns credentials for NASA Earthdata: of a token, of a password for older archives, or with `way: 's3'` of keys in the region of the data.
 *
 * @example createAuth({ credentials: [earthdata({ token })] })
 */
export const earthdata: ProviderCredentials<TokenValues<'token'> | TokenValues<'s3'> | UserValues<'password'>> =
  /* @__PURE__ */ credentialsOf(EARTHDATA)
