/** Credentials of each form in which a secret is sent, and how to see in a request that it was sent. */
import type { CredentialObject } from '../../src/auth/credential.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { type Canary, canary } from '../harness/canary.ts'
import { type Json, scheme } from '../harness/documents.ts'
import type { Reply } from '../harness/scripted.ts'

export interface Material {
  readonly name: string
  /** What no one but its servers may see. */
  readonly secrets: readonly Canary[]
  /** Without `sendTo`. */
  readonly credential: CredentialObject
  readonly scheme: Json
  /** True for a request that bears the secret, or a proof that was made with it. */
  readonly isIn: (request: Pick<HttpRequest, 'url' | 'headers'>) => boolean
  /** How a server asks for it, where it must. */
  readonly challenge?: string
}

/** The token endpoint of the user; nothing but token requests may go there. */
export const TOKEN_URL = 'https://login.victim.example/token'

/** Each call makes secrets of its own. */
export function materials(): readonly Material[] {
  const [token, password, digest, header, query, cookie, client, issued, s3] = [
    canary('token'),
    canary('password', ' ü"+'),
    canary('digest', '~'),
    canary('header', '+/'),
    canary('query', '/+&='),
    canary('cookie', '!~'),
    canary('client', '~s'),
    canary('issued'),
    canary('s3', '/+'),
  ] as const
  const sees = (...secrets: Canary[]) => {
    return (request: Pick<HttpRequest, 'url' | 'headers'>) =>
      secrets.some((one) => one.seenIn(`${request.url} ${Object.values(request.headers).join(' ')}`).length > 0)
  }
  const proves = (word: string) => (request: Pick<HttpRequest, 'headers'>) => String(request.headers.authorization).startsWith(word)
  return [
    {
      name: 'a bearer token',
      secrets: [token],
      credential: { type: 'http', scheme: 'bearer', token: token.value },
      scheme: scheme.bearer,
      isIn: sees(token),
    },
    {
      name: 'a password',
      secrets: [password],
      credential: { type: 'http', scheme: 'basic', username: 'ada', password: password.value },
      scheme: scheme.basic,
      isIn: sees(password),
    },
    {
      name: 'a Digest password',
      secrets: [digest],
      credential: { type: 'http', scheme: 'digest', username: 'ada', password: digest.value },
      scheme: { type: 'http', scheme: 'digest' },
      isIn: proves('Digest '),
      challenge: 'Digest realm="r", qop="auth", nonce="n", algorithm=SHA-256',
    },
    {
      name: 'a key in a header',
      secrets: [header],
      credential: { type: 'apiKey', in: 'header', name: 'x-key', value: header.value },
      scheme: scheme.key('x-key'),
      isIn: sees(header),
    },
    {
      name: 'a key in the query',
      secrets: [query],
      credential: { type: 'apiKey', in: 'query', name: 'key', value: query.value },
      scheme: scheme.key('key', 'query'),
      isIn: sees(query),
    },
    {
      name: 'a key in a cookie',
      secrets: [cookie],
      credential: { type: 'apiKey', in: 'cookie', name: 'session', value: cookie.value },
      scheme: scheme.key('session', 'cookie'),
      isIn: sees(cookie),
    },
    {
      name: 'a token for client credentials',
      secrets: [client, issued],
      credential: { type: 'oauth2', flow: 'clientCredentials', tokenUrl: TOKEN_URL, clientId: 'app', clientSecret: client.value },
      scheme: scheme.client(TOKEN_URL),
      isIn: sees(issued, client),
    },
    {
      name: 'a signature with S3 keys',
      secrets: [s3],
      credential: { type: 's3', accessKeyId: 'AKIDLEAKS', secretAccessKey: s3.value, region: 'eu-central-1' },
      scheme: { type: 's3' },
      isIn: (request) => proves('AWS4-HMAC-SHA256 ')(request) || /[?&]X-Amz-Signature=/.test(request.url),
    },
  ]
}

/** What the token endpoint answers; the second secret of client credentials. */
export function tokenReply({ secrets }: Material): Reply {
  return { body: { access_token: secrets[1]?.value, token_type: 'Bearer', expires_in: 3600 } }
}
