/** What the user of the demo has: one credential per credential, each bound to the URLs that may have it. */
import type { CredentialInput, SecretInput, SecretSource } from 'stac-auth'
import { type Addresses, CLIENT_ID, ISSUER, KEY_ID, REGION, SCOPE, USERNAME } from './addresses.ts'
import type { SecretName } from './secrets.ts'

type SecretOf = (name: SecretName) => SecretInput | SecretSource

/** The credentials. A secret is whatever `secret` gives for its name: a text in code, a source in a file. */
export function credentialsFor(addresses: Addresses, secret: SecretOf): readonly CredentialInput[] {
  return [
    ...httpEntries(addresses, secret),
    sealedEntry(addresses, secret),
    ...keyEntries(addresses, secret),
    ...otherEntries(addresses, secret),
  ]
}

function httpEntries({ files, signing, issuerRequestUri }: Addresses, secret: SecretOf): readonly CredentialInput[] {
  const known = <S extends string>(scheme: S) => ({ id: scheme, type: 'http' as const, scheme, sendTo: [`${files}/${scheme}/`] })
  const account = { username: USERNAME, password: secret('password') }
  const token = secret('boundToken')
  const consumer = { consumerKey: CLIENT_ID, consumerSecret: secret('consumerSecret') }
  return [
    { ...known('basic'), id: 'ada', ...account },
    { ...known('bearer'), id: 'mission', token: secret('token'), sendTo: [`${files}/bearer/`, `${signing}/get/`, issuerRequestUri] },
    { ...known('digest'), ...account },
    { ...known('dpop'), token, privateKey: secret('dpopKey') },
    { ...known('gnap'), token, privateKey: secret('gnapKey'), keyId: KEY_ID },
    { ...known('hoba'), privateKey: secret('hobaKey'), keyId: KEY_ID },
    { ...known('mutual'), ...account },
    { ...known('oauth'), ...consumer, token, tokenSecret: secret('tokenSecret') },
    { ...known('privatetoken'), issuerName: ISSUER, issuerRequestUri, with: 'mission' },
    { ...known('scram-sha-1'), ...account },
    { ...known('scram-sha-256'), ...account },
    { ...known('vapid'), privateKey: secret('vapidKey'), subject: 'mailto:ada@demo.example' },
    { ...known('portal'), credentials: secret('portalText') },
  ]
}

function sealedEntry({ sealed }: Addresses, secret: SecretOf): CredentialInput {
  const scheme = 'concealed'
  return { id: scheme, type: 'http', scheme, privateKey: secret('concealedKey'), keyId: KEY_ID, sendTo: [`${sealed}/`] }
}

function keyEntries({ files }: Addresses, secret: SecretOf): readonly CredentialInput[] {
  const key = { type: 'apiKey' as const, sendTo: [`${files}/key/`] }
  return [
    { id: 'header-key', ...key, in: 'header', name: 'X-Api-Key', value: secret('headerKey') },
    { id: 'query-key', ...key, in: 'query', name: 'apikey', value: secret('queryKey') },
    { id: 'cookie-key', ...key, in: 'cookie', name: 'session', value: secret('cookieKey') },
  ]
}

function otherEntries({ files, tokenUrl, signing, blobs, s3 }: Addresses, secret: SecretOf): readonly CredentialInput[] {
  const signer = { type: 'signedUrl' as const, signedUrlHosts: [`${blobs}/`] }
  return [
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
