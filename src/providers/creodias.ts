import { accountWithCode, eodag, KEY_PAIR, keyPair, passwordWay, realm } from './facts.ts'
import { credentialsOf, type KeyValues, type ProviderCredentials, type UserWithCodeValues } from './provider.ts'

const ZIPPER = 'https://zipper.creodias.eu/'
const ODATA = 'https://datahub.creodias.eu/odata/v1/'
const REALM = 'https://identity.cloudferro.com/auth/realms/Creodias-new'
const STORE = 'https://eodata.cloudferro.com'

/**
 * Returns credentials for CREODIAS: of a password with its one-time code, or of S3 keys.
 *
 * @example createAuth({ credentials: [creodias({ username, password, totp: () => code() })] })
 */
export const creodias: ProviderCredentials<UserWithCodeValues<'password'> | KeyValues<'s3'>> = /* @__PURE__ */ credentialsOf(() => ({
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
    eodag('creodias', 'realm, client, token in the query'),
    eodag('creodias_s3', 'endpoint and bucket'),
  ],
  checked: '2026-11-28',
  recognizes: {
    files: [ZIPPER, ODATA],
    catalogs: ['https://datahub.creodias.eu/', 'https://stac.creodias.eu/'],
    issuers: [REALM],
    buckets: [{ name: 'eodata', endpoint: 'https://eodata.cloudferro.com' }],
  },
  ways: [
    passwordWay({
      credential: 'creodias',
      when: 'Downloads by HTTP with e-mail address, password and one-time code.',
      holes: accountWithCode('CREODIAS', 'E-mail address'),
      fields: { ...realm(REALM, 'CLOUDFERRO_PUBLIC'), totp: { hole: 'totp' }, placement: { in: 'query', name: 'token' } },
      sendTo: [ZIPPER, ODATA],
    }),
    {
      id: 's3',
      when: 'Files of s3://eodata at CREODIAS, which charges transfers out of its cloud.',
      works: ['unattended'],
      holes: keyPair('CREODIAS_S3'),
      credentials: [{ id: 'creodias-s3', type: 's3', endpoint: STORE, ...KEY_PAIR, sendTo: ['s3://eodata/'] }],
    },
  ],
  notes: [
    'The token is in the query of download URLs, where servers may log it.',
    'A one-time code is valid for 30 seconds and once: let a command make it.',
  ],
}))
