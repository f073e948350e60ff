import {
  type ClientValues,
  credentialsOf,
  type KeyValues,
  type NoValues,
  type Provider,
  type ProviderCredentials,
  type UserWithCodeValues,
} from './provider.ts'

const DISCOVERY = 'https://identity.dataspace.copernicus.eu/auth/realms/CDSE/.well-known/openid-configuration'

const FILES = [
  'https://download.dataspace.copernicus.eu/',
  'https://zipper.dataspace.copernicus.eu/',
  'https://catalogue.dataspace.copernicus.eu/odata/v1/',
] as const

const KEY_MANAGER = 'https://s3-keys-manager.cloudferro.com/api/user/credentials'

const FILES_AND_KEYS = [
  'https://download.dataspace.copernicus.eu/',
  'https://zipper.dataspace.copernicus.eu/',
  'https://catalogue.dataspace.copernicus.eu/odata/v1/',
  'https://s3-keys-manager.cloudferro.com/api/user/',
] as const

const USERNAME = { label: 'User name (e-mail address)', kind: 'text-or-secret', env: ['CDSE_USERNAME'] } as const

const PASSWORD = { label: 'Password', kind: 'secret', env: ['CDSE_PASSWORD'] } as const

const CODE = { label: 'One-time code, for accounts with a second factor', kind: 'secret', env: ['CDSE_TOTP'], optional: true } as const

const COPERNICUS = {
  id: 'copernicus',
  title: 'Copernicus Data Space Ecosystem',
  homepage: 'https://dataspace.copernicus.eu/',
  account: {
    url: 'https://dataspace.copernicus.eu/',
    text: 'Register there; keys for s3:// are made at https://eodata-s3keysmanager.dataspace.copernicus.eu/.',
  },
  sources: [
    {
      url: 'https://github.com/eu-cdse/documentation/blob/main/APIs/Token.qmd',
      proves: 'realm, client cdse-public, password grant, totp',
    },
    { url: 'https://github.com/eu-cdse/documentation/blob/main/APIs/OData.qmd', proves: 'hosts of downloads, Bearer header, refresh' },
    {
      url: 'https://github.com/eu-cdse/documentation/blob/main/APIs/S3.qmd',
      proves: 'endpoint, region, bucket and key manager of S3, and its calls',
    },
    { url: 'https://github.com/eu-cdse/documentation/blob/main/APIs/STAC.qmd', proves: 'addresses of both STAC APIs' },
    { url: 'https://github.com/eu-cdse/documentation/blob/main/Quotas.qmd', proves: 'life of tokens, limits of sessions' },
    {
      url: 'https://github.com/eu-cdse/documentation/blob/main/APIs/SentinelHub/Overview/Authentication.qmd',
      proves: 'clients of Sentinel Hub, also for pages',
    },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: [
      'https://download.dataspace.copernicus.eu/',
      'https://zipper.dataspace.copernicus.eu/',
      'https://catalogue.dataspace.copernicus.eu/odata/v1/',
      'https://sh.dataspace.copernicus.eu/',
    ],
    catalogs: ['https://stac.dataspace.copernicus.eu/', 'https://catalogue.dataspace.copernicus.eu/'],
    issuers: ['https://identity.dataspace.copernicus.eu/auth/realms/CDSE'],
    buckets: [{ name: 'eodata', endpoint: 'https://eodata.dataspace.copernicus.eu' }],
  },
  ways: [
    {
      id: 'password',
      when: 'Downloads by HTTP with the user name and password of your account.',
      works: ['unattended'],
      holes: {
        username: USERNAME,
        password: PASSWORD,
        totp: CODE,
      },
      credentials: [
        {
          id: 'copernicus',
          type: 'openIdConnect',
          openIdConnectUrl: DISCOVERY,
          flow: 'password',
          allowPasswordGrant: true,
          clientId: 'cdse-public',
          username: { hole: 'username' },
          password: { hole: 'password' },
          totp: { hole: 'totp' },
          sendTo: FILES,
          use: 'by-address',
        },
      ],
    },
    {
      id: 'login',
      when: 'Downloads by HTTP with a login in the browser, where the provider accepts the redirect to your machine.',
      works: [],
      holes: {},
      credentials: [
        {
          id: 'copernicus',
          type: 'openIdConnect',
          openIdConnectUrl: DISCOVERY,
          clientId: 'cdse-public',
          scopes: ['offline_access'],
          sendTo: FILES,
          use: 'by-address',
        },
      ],
    },
    {
      id: 's3',
      when: 'Files of s3://eodata with keys of the key manager: parts of products, and many files at once.',
      works: ['unattended'],
      holes: {
        accessKeyId: { label: 'Access key', kind: 'secret', env: ['CDSE_S3_ACCESS_KEY'] },
        secretAccessKey: { label: 'Secret key', kind: 'secret', env: ['CDSE_S3_SECRET_KEY'] },
      },
      credentials: [
        {
          id: 'copernicus-s3',
          type: 's3',
          endpoint: 'https://eodata.dataspace.copernicus.eu',
          region: 'default',
          accessKeyId: { hole: 'accessKeyId' },
          secretAccessKey: { hole: 'secretAccessKey' },
          sendTo: ['s3://eodata/'],
        },
      ],
    },
    {
      id: 's3-password',
      when: 'Files of s3://eodata with keys that are made with the password of your account, and downloads by HTTP.',
      works: ['unattended'],
      holes: {
        username: USERNAME,
        password: PASSWORD,
        totp: CODE,
      },
      credentials: [
        {
          id: 'copernicus',
          type: 'openIdConnect',
          openIdConnectUrl: DISCOVERY,
          flow: 'password',
          allowPasswordGrant: true,
          clientId: 'cdse-public',
          username: { hole: 'username' },
          password: { hole: 'password' },
          totp: { hole: 'totp' },
          sendTo: FILES_AND_KEYS,
          use: 'by-address',
        },
        {
          id: 'copernicus-s3',
          type: 's3',
          endpoint: 'https://eodata.dataspace.copernicus.eu',
          region: 'default',
          credentialsUrl: KEY_MANAGER,
          method: 'POST',
          with: 'copernicus',
          fields: { accessKeyId: 'access_id', secretAccessKey: 'secret' },
          releaseUrl: 'https://s3-keys-manager.cloudferro.com/api/user/credentials/access_id/{accessKeyId}',
          sendTo: ['s3://eodata/'],
        },
      ],
    },
    {
      id: 's3-login',
      when: 'Files of s3://eodata with keys that are made with a login in the browser, and downloads by HTTP.',
      works: [],
      holes: {},
      credentials: [
        {
          id: 'copernicus',
          type: 'openIdConnect',
          openIdConnectUrl: DISCOVERY,
          clientId: 'cdse-public',
          scopes: ['offline_access'],
          sendTo: FILES_AND_KEYS,
          use: 'by-address',
        },
        {
          id: 'copernicus-s3',
          type: 's3',
          endpoint: 'https://eodata.dataspace.copernicus.eu',
          region: 'default',
          credentialsUrl: KEY_MANAGER,
          method: 'POST',
          with: 'copernicus',
          fields: { accessKeyId: 'access_id', secretAccessKey: 'secret' },
          releaseUrl: 'https://s3-keys-manager.cloudferro.com/api/user/credentials/access_id/{accessKeyId}',
          sendTo: ['s3://eodata/'],
        },
      ],
    },
    {
      id: 'sentinel-hub',
      when: 'The APIs of Sentinel Hub, with an OAuth client of your dashboard; its id begins with sh-.',
      works: ['page', 'unattended'],
      holes: {
        clientId: { label: 'Client id', kind: 'text' },
        clientSecret: { label: 'Client secret', kind: 'secret', env: ['CDSE_SH_CLIENT_SECRET', 'SH_CLIENT_SECRET'] },
      },
      credentials: [
        {
          id: 'copernicus-sentinel-hub',
          type: 'openIdConnect',
          openIdConnectUrl: DISCOVERY,
          flow: 'clientCredentials',
          clientId: { hole: 'clientId' },
          clientSecret: { hole: 'clientSecret' },
          sendTo: ['https://sh.dataspace.copernicus.eu/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: [
    'An access token is valid for 10 minutes and can be refreshed for an hour; the number of sessions of an account is limited.',
    'Keys for S3 end on the day chosen when they are made, and their secret is shown once.',
    'An account has a limited number of keys: a logout deletes those that were made with it. New keys work after some seconds.',
    'Products that are offline must be ordered in the Data Workspace first.',
  ],
} as const satisfies Provider

/**
 * Returns credentials for Copernicus Data Space: of a password, of S3 keys (given, or made with the account), of a client of Sentinel Hub, or without values of a login.
 *
 * @example createAuth({ credentials: [copernicus({ username, password }), copernicus({ accessKeyId, secretAccessKey })] })
 */
export const copernicus: ProviderCredentials<
  | UserWithCodeValues<'password'>
  | UserWithCodeValues<'s3-password'>
  | NoValues<'login'>
  | NoValues<'s3-login'>
  | KeyValues<'s3'>
  | ClientValues<'sentinel-hub'>
> = /* @__PURE__ */ credentialsOf(COPERNICUS)
