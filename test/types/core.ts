/** What `stac-auth` promises to callers, read from the declarations that are published. */
import {
  type Auth,
  type AuthError,
  type AuthorizedRequest,
  alternateOf,
  apiKey,
  assetOf,
  basic,
  bearer,
  type CredentialInput,
  createAuth,
  type ErrorCode,
  type Explanation,
  isAuthError,
  linkOf,
  oauth2,
  openIdConnect,
  Secret,
  s3,
  signedUrl,
  type Target,
  targetsOf,
  uncheckedCredential,
} from 'stac-auth'
import type { Strategy } from 'stac-auth/strategy'
import { expectTypeOf } from 'vitest'

const DATA = 'https://data.example/'
const item = { type: 'Feature', assets: {} }

// Credentials: a shorthand, an entry, several entries, entries with an order of preference.
expectTypeOf(bearer).returns.toEqualTypeOf<CredentialInput>()
bearer('token', 'https://data.example/')
bearer(() => 'token', ['https://data.example/'])
bearer(async () => 'token', 'https://data.example/')
bearer({ env: 'TOKEN' }, 'https://data.example/')
bearer(new Secret('token'), 'https://data.example/')
// @ts-expect-error: a token without an address would go anywhere
bearer('token')
// @ts-expect-error: a token is a text
bearer(1, 'https://data.example/')

const auth = createAuth({ credentials: [bearer('token', 'https://data.example/')] })
expectTypeOf(auth).toEqualTypeOf<Auth>()
createAuth({ credentials: { id: 'a', type: 'http', scheme: 'bearer', token: 'token', sendTo: ['https://data.example/'] } })
createAuth({
  credentials: { credentials: [{ id: 'a', type: 'apiKey', in: 'header', name: 'x-key', value: 'key', sendTo: DATA }], preferred: ['a'] },
})
// @ts-expect-error: without credentials there is nothing to choose from
createAuth({})
// @ts-expect-error: an entry has a type
createAuth({ credentials: [{ id: 'a' }] })

// A misspelt, missing or foreign field does not compile.
createAuth({ credentials: { type: 'http', scheme: 'basic', username: 'ada', password: { env: 'PASSWORD' }, sendTo: DATA } })
// @ts-expect-error: the password is misspelt
createAuth({ credentials: { type: 'http', scheme: 'basic', username: 'ada', pasword: 'p', sendTo: DATA } })
// @ts-expect-error: a further field is misspelt
createAuth({ credentials: { type: 's3', accessKeyId: 'a', secretAccessKey: 'b', regoin: 'c', sendTo: DATA } })
// @ts-expect-error: it does not say where it may go
createAuth({ credentials: [{ type: 'http', scheme: 'bearer', token: 't' }] })
// @ts-expect-error: there is no such type
createAuth({ credentials: [{ type: 'apikey', in: 'header', name: 'x-key', value: 'key', sendTo: DATA }] })
// @ts-expect-error: there is no such place
createAuth({ credentials: [{ type: 'apiKey', in: 'body', name: 'x-key', value: 'key', sendTo: DATA }] })
// @ts-expect-error: a client has an id
createAuth({ credentials: { type: 'oauth2', flow: 'clientCredentials', tokenUrl: DATA, clientSecret: 's', sendTo: DATA } })
// @ts-expect-error: there is no such flow
createAuth({ credentials: { type: 'oauth2', flow: 'clientCredential', tokenUrl: DATA, clientId: 'c', sendTo: DATA } })
createAuth({ credentials: { type: 'signedUrl', authorizationApi: DATA, method: 'GET', signedUrlHosts: [DATA] } })
// @ts-expect-error: a secret is kept in one of the known places
createAuth({ credentials: { type: 'http', scheme: 'bearer', token: { enviroment: 'TOKEN' }, sendTo: DATA } })

// Helpers: the same fields, without the type.
createAuth({
  credentials: [
    basic('ada', () => 'password', DATA),
    apiKey('key', { in: 'header', name: 'x-key' }, DATA),
    s3({ accessKeyId: 'a', secretAccessKey: { env: 'SECRET' }, region: 'eu-central-1' }, 's3://bucket/'),
    oauth2({ flow: 'clientCredentials', tokenUrl: DATA, clientId: 'app', clientSecret: 's' }, DATA),
    openIdConnect({ issuer: DATA, clientId: 'app', id: 'login' }, DATA),
    signedUrl({ authorizationApi: DATA, method: 'POST', signedUrlHosts: DATA }),
  ],
})
// @ts-expect-error: a password without an address would go anywhere
basic('ada', 'password')
// @ts-expect-error: the name of the header is missing
apiKey('key', { in: 'header' }, DATA)
// @ts-expect-error: the field is misspelt
s3({ accessKeyID: 'a' }, DATA)
// @ts-expect-error: the flow decides which fields there are
oauth2({ flow: 'implicit', clientId: 'app' }, DATA)
// @ts-expect-error: the provider must know the program
openIdConnect({ issuer: DATA }, DATA)
// @ts-expect-error: signed URLs may not point anywhere
signedUrl({ authorizationApi: DATA, method: 'GET' })
// What is read from JSON, or is for a strategy of one's own, is checked when it is read.
createAuth({ credentials: uncheckedCredential({ type: 'com.example.ticket', ticket: 'A-17', sendTo: DATA }) })

// Targets: a key that the document does not have is an error, a link that it does not have undefined.
expectTypeOf(assetOf(item, 'B04')).toEqualTypeOf<Target>()
expectTypeOf(alternateOf(item, 'B04', 's3')).toEqualTypeOf<Target>()
expectTypeOf(linkOf(item, 'license')).toEqualTypeOf<Target | undefined>()
expectTypeOf(targetsOf(item)).toExtend<Iterable<Target>>()
expectTypeOf<Target['href']>().toEqualTypeOf<string>()
expectTypeOf<Target['refs']>().toEqualTypeOf<readonly string[]>()

// Products: an unsent request, a standard response, a fetch, an explanation.
declare const target: Target
expectTypeOf(auth.authorize(target)).resolves.toEqualTypeOf<AuthorizedRequest>()
expectTypeOf(auth.fetch(target)).resolves.toEqualTypeOf<Response>()
expectTypeOf(auth.fetch('https://data.example/')).resolves.toEqualTypeOf<Response>()
expectTypeOf(auth.fetchFor(target)).toEqualTypeOf<typeof globalThis.fetch>()
expectTypeOf(auth.peek(target)).toEqualTypeOf<AuthorizedRequest | undefined>()
expectTypeOf(auth.explain(target)).toEqualTypeOf<Promise<Explanation>>()
// What a document does not have is an error of the call, not of the types.
auth.authorize(linkOf(item, 'license'))
// @ts-expect-error: a plain asset does not say where its schemes are
auth.fetch({ href: 'https://data.example/' })
// @ts-expect-error: an address alone says nothing about refs
auth.authorize('https://data.example/')

expectTypeOf<AuthorizedRequest>().toExtend<{ method: string; url: string; headers: Readonly<Record<string, string>> }>()
expectTypeOf<AuthorizedRequest['expiresAt']>().toEqualTypeOf<string | undefined>()
declare const request: AuthorizedRequest
// @ts-expect-error: requests are plain data that nobody changes
request.url = 'https://other.example/'

// Errors: one type, told apart by its code.
declare const caught: unknown
if (isAuthError(caught)) expectTypeOf(caught).toEqualTypeOf<AuthError>()
expectTypeOf<AuthError['code']>().toEqualTypeOf<ErrorCode>()
expectTypeOf<'NO_CREDENTIAL' | 'HTTP_404'>().toExtend<ErrorCode>()
// @ts-expect-error: a code that does not exist is found by the compiler
expectTypeOf<'NO_CREDENTIALS'>().toExtend<ErrorCode>()
expectTypeOf<AuthError['retryable']>().toEqualTypeOf<boolean>()
expectTypeOf<AuthError['reasons']>().toEqualTypeOf<readonly AuthError[] | undefined>()

// Own schemes: a list of strategies takes strategies of every kind.
declare const own: Strategy<{ type: 'ours'; realm: string }>
createAuth({ credentials: [], strategies: [own] })
