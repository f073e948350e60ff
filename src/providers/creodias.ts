import { credentialsOf, type KeyValues, type Provider, type ProviderCredentials, type UserWithCodeValues } from './provider.ts'

const CREODIAS = {
  id: 'creodias',
  title: 'CREODIAS',
  homepage: 'https://creodias.eu/',
  account: {
    url: 'https://creodias.eu/',
    text: 'Register there and set up the second factor; keys for s3:// are made in the dashboard after transfers were enabled.',
  },
  sources: [
    {
      url: 'https://creodias.docs.cloudferro.com/en/latest/eodata/Using-curl-and-wget-to-download-EODATA-products-from-Creodias.html',
      proves: 'password grant with totp, downloads with the token',
    },
    {
      url: 'https://creodias.docs.cloudferro.com/en/latest/eodata/Remote-transfer-for-EODATA-on-Creodias.html',
      proves: 'S3 keys and their terms',
    },
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/creodias.yml',
      proves: 'realm, client, token in the query',
    },
    { url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/creodias_s3.yml', proves: 'endpoint and bucket' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://zipper.creodias.eu/', 'https://datahub.creodias.eu/odata/v1/'],
    catalogs: ['https://datahub.creodias.eu/', 'https://stac.creodias.eu/'],
    issuers: ['https://identity.cloudferro.com/auth/realms/Creodias-new'],
    buckets: [{ name: 'eodata', endpoint: 'https://eodata.cloudferro.com' }],
  },
  ways: [
    {
      id: 'password',
      when: 'Downloads by HTTP with e-mail address, password and one-time code.',
      works: ['unattended'],
      holes: {
        username: { label: 'E-mail address', kind: 'text-or-secret', env: ['CREODIAS_USERNAME'] },
        password: { label: 'Password', kind: 'secret', env: ['CREODIAS_PASSWORD'] },
        totp: { label: 'One-time code, for accounts with a second factor', kind: 'secret', env: ['CREODIAS_TOTP'], optional: true },
      },
      credentials: [
        {
          id: 'creodias',
          type: 'openIdConnect',
          openIdConnectUrl: 'https://identity.cloudferro.com/auth/realms/Creodias-new/.well-known/openid-configuration',
          flow: 'password',
          allowPasswordGrant: true,
          clientId: 'CLOUDFERRO_PUBLIC',
          username: { hole: 'username' },
          password: { hole: 'password' },
          totp: { hole: 'totp' },
          placement: { in: 'query', name: 'token' },
          sendTo: ['https://zipper.creodias.eu/', 'https://datahub.creodias.eu/odata/v1/'],
          use: 'by-address',
        },
      ],
    },
    {
      id: 's3',
      when: 'Files of s3://eodata at CREODIAS, which charges transfers out of its cloud.',
      works: ['unattended'],
      holes: {
        accessKeyId: { label: 'Access key', kind: 'secret', env: ['CREODIAS_S3_ACCESS_KEY'] },
        secretAccessKey: { label: 'Secret key', kind: 'secret', env: ['CREODIAS_S3_SECRET_KEY'] },
      },
      credentials: [
        {
          id: 'creodias-s3',
          type: 's3',
          endpoint: 'https://eodata.cloudferro.com',
          accessKeyId: { hole: 'accessKeyId' },
          secretAccessKey: { hole: 'secretAccessKey' },
          sendTo: ['s3://eodata/'],
        },
      ],
    },
  ],
  notes: [
    'The token is in the query of download URLs, where servers may log it.',
    'A one-time code is valid for 30 seconds and once: let a command make it.',
  ],
} as const satisfies Provider

/**
 * Returns credentials for CREODIAS: of a password with its one-time code, or of S3 keys.
 *
 * @example createAuth({ credentials: [creodias({ username, password, totp: () => code() })] })
 */
export const creodias: ProviderCredentials<UserWithCodeValues<'password'> | KeyValues<'s3'>> = /* @__PURE__ */ credentialsOf(CREODIAS)
