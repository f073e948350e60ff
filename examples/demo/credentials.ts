/** What the user of the demo has: one entry per credential, each bound to the addresses that may have it. */
import type { CredentialInput, SecretInput, SecretSource } from 'stac-auth'
import { type Addresses, CLIENT_ID, REGION, SCOPE, USERNAME } from './addresses.ts'
import type { SecretName } from './secrets.ts'

type SecretOf = (name: SecretName) => SecretInput | SecretSource

/** The entries. A secret is whatever `secret` gives for its name: a text in code, a source in a file. */
export function entriesFor({ files, tokenUrl, signing, blobs, s3 }: Addresses, secret: SecretOf): readonly CredentialInput[] {
  const key = { type: 'apiKey', sendTo: [`${files}/key/`] }
  const signer = { type: 'signedUrl', signedUrlHosts: [`${blobs}/`] }
  return [
    { id: 'ada', type: 'http', scheme: 'basic', username: USERNAME, password: secret('password'), sendTo: [`${files}/basic/`] },
    { id: 'mission', type: 'http', scheme: 'bearer', token: secret('token'), sendTo: [`${files}/bearer/`, `${signing}/get/`] },
    { id: 'portal', type: 'http', scheme: 'portal', credentials: secret('portalText'), sendTo: [`${files}/portal/`] },
    { id: 'header-key', ...key, in: 'header', name: 'X-Api-Key', value: secret('headerKey') },
    { id: 'query-key', ...key, in: 'query', name: 'apikey', value: secret('queryKey') },
    { id: 'cookie-key', ...key, in: 'cookie', name: 'session', value: secret('cookieKey') },
    {
      id: 'client',
      type: 'oauth2',
      flow: 'clientCredentials',
      tokenUrl,
      clientId: CLIENT_ID,
      clientSecret: secret('clientSecret'),
      scopes: [SCOPE],
      sendTo: [`${files}/oauth2/`, `${signing}/post/`],
    },
    { id: 'get-signer', ...signer, method: 'GET', authorizationApi: `${signing}/get/sign`, with: 'mission' },
    { id: 'post-signer', ...signer, method: 'POST', authorizationApi: `${signing}/post/sign`, with: 'client', sendTo: ['s3://archive/'] },
    {
      id: 'store',
      type: 's3',
      accessKeyId: secret('accessKeyId'),
      secretAccessKey: secret('secretAccessKey'),
      region: REGION,
      endpoint: s3,
      sendTo: ['s3://vault/'],
    },
  ]
}
