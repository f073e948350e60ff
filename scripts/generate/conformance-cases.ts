/**
 * The cases of `fixtures/conformance/authorize.json`: a document, a user's credentials, and the request that must follow from them or the
 * refusal. What is expected is written down from the standards, never computed by this library.
 */

/** One HTTP request; `form` is a body of `application/x-www-form-urlencoded`, its order free; `json` one of JSON. */
interface WireRequest {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** The field `Authorization` holds a signature of this kind, which the runner checks with the user's key. */
  readonly signature?: 'AWS4-HMAC-SHA256'
}

/** What an endpoint is asked on the way, and what it answers. */
interface Exchange {
  readonly request: WireRequest
  readonly response: { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly json?: unknown }
}

export interface AuthorizeCase {
  readonly id: string
  readonly title: string
  readonly source: string
  readonly document: Readonly<Record<string, unknown>>
  readonly url?: string
  readonly target: string
  readonly credentials: readonly Readonly<Record<string, unknown>>[]
  readonly now?: string
  readonly network?: readonly Exchange[]
  readonly expect: { readonly request: WireRequest; readonly credential: string } | { readonly refused: string }
}

const EXTENSION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'
const ITEM_URL = 'https://catalog.example/items/scene.json'
const FILE = 'https://data.example/protected/scene.tif'
const DATA = '/assets/data'
const STORAGE = 'https://stac-extensions.github.io/storage/v2.0.0/schema.json'

type Schemes = Readonly<Record<string, unknown>>
type Members = Readonly<Record<string, unknown>>

/** An item with one asset that needs the schemes, all of them alternatives. */
function item(schemes: Schemes, asset: Members = {}, properties: Members = {}): Readonly<Record<string, unknown>> {
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION, ...(properties['storage:schemes'] ? [STORAGE] : [])],
    id: 'scene',
    geometry: null,
    properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': schemes, ...properties },
    links: [],
    assets: { data: { href: FILE, 'auth:refs': Object.keys(schemes), ...asset } },
  }
}

const bearerScheme = { type: 'http', scheme: 'bearer' }
const keyScheme = { type: 'apiKey', name: 'X-Api-Key', in: 'header' }
const token = (more: Members = {}) => ({
  id: 'token',
  type: 'http',
  scheme: 'bearer',
  token: 'abc.def',
  sendTo: ['https://data.example/protected/'],
  ...more,
})
const key = (more: Members = {}) => ({
  id: 'key',
  type: 'apiKey',
  in: 'header',
  name: 'X-Api-Key',
  value: 'k-1',
  sendTo: ['https://data.example/'],
  ...more,
})
const get = (url: string, headers: Readonly<Record<string, string>> = {}): WireRequest => ({ method: 'GET', url, headers })

const shared = { url: ITEM_URL, target: DATA }

const sent: readonly AuthorizeCase[] = [
  {
    id: 'bearer',
    title: 'A bearer token goes into the field Authorization',
    source: 'RFC 6750 section 2.1',
    ...shared,
    document: item({ token: bearerScheme }),
    credentials: [token()],
    expect: { credential: 'token', request: get(FILE, { authorization: 'Bearer abc.def' }) },
  },
  {
    id: 'bearer-spelling',
    title: 'The name of an HTTP scheme is compared without regard to case',
    source: 'RFC 9110 section 11.1',
    ...shared,
    document: item({ token: { type: 'http', scheme: 'Bearer' } }),
    credentials: [token()],
    expect: { credential: 'token', request: get(FILE, { authorization: 'Bearer abc.def' }) },
  },
  {
    id: 'basic',
    title: 'User name and password are joined by a colon and encoded as base64',
    source: 'RFC 7617 section 2',
    ...shared,
    document: item({ login: { type: 'http', scheme: 'basic' } }),
    credentials: [
      { id: 'login', type: 'http', scheme: 'basic', username: 'Aladdin', password: 'open sesame', sendTo: ['https://data.example/'] },
    ],
    expect: { credential: 'login', request: get(FILE, { authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' }) },
  },
  {
    id: 'basic-utf8',
    title: 'A password outside ASCII is encoded as UTF-8',
    source: 'RFC 7617 section 2.1',
    ...shared,
    document: item({ login: { type: 'http', scheme: 'basic' } }),
    credentials: [{ id: 'login', type: 'http', scheme: 'basic', username: 'test', password: '123£', sendTo: ['https://data.example/'] }],
    expect: { credential: 'login', request: get(FILE, { authorization: 'Basic dGVzdDoxMjPCow==' }) },
  },
  {
    id: 'key-header',
    title: 'An API key goes into the header field that the scheme names',
    source: 'authentication extension 1.1.0, apiKey',
    ...shared,
    document: item({ key: keyScheme }),
    credentials: [key()],
    expect: { credential: 'key', request: get(FILE, { 'x-api-key': 'k-1' }) },
  },
  {
    id: 'key-query',
    title: 'An API key in the query is percent-encoded and leaves the other parameters as they are',
    source: 'authentication extension 1.1.0, apiKey; WHATWG URL section 5.2',
    ...shared,
    document: item({ key: { type: 'apiKey', name: 'api_key', in: 'query' } }, { href: `${FILE}?x=1&y=a%20b` }),
    credentials: [key({ in: 'query', name: 'api_key', value: 'a b&c=d/+' })],
    expect: { credential: 'key', request: get(`${FILE}?x=1&y=a%20b&api_key=a%20b%26c%3Dd%2F%2B`) },
  },
  {
    id: 'key-cookie',
    title: 'An API key in a cookie goes into the field Cookie',
    source: 'authentication extension 1.1.0, apiKey; RFC 6265 section 4.2',
    ...shared,
    document: item({ key: { type: 'apiKey', name: 'session', in: 'cookie' } }),
    credentials: [key({ in: 'cookie', name: 'session', value: 'k-1' })],
    expect: { credential: 'key', request: get(FILE, { cookie: 'session=k-1' }) },
  },
  {
    id: 'relative-href',
    title: 'A relative href is resolved against the location of the document before a credential is chosen',
    source: 'STAC 1.1.0, relative links; RFC 3986 section 5',
    url: 'https://data.example/protected/item.json',
    target: DATA,
    document: item({ token: bearerScheme }, { href: './files/scene.tif' }),
    credentials: [token()],
    expect: { credential: 'token', request: get('https://data.example/protected/files/scene.tif', { authorization: 'Bearer abc.def' }) },
  },
  {
    id: 'first-usable-ref',
    title: 'References are alternatives: the first one with a credential of the user is used',
    source: 'authentication extension 1.1.0, auth:refs',
    ...shared,
    document: item({ token: bearerScheme, key: keyScheme }),
    credentials: [key()],
    expect: { credential: 'key', request: get(FILE, { 'x-api-key': 'k-1' }) },
  },
  {
    id: 'order-of-refs',
    title: 'With credentials for two references, the first reference of the document is used',
    source: 'authentication extension 1.1.0, auth:refs',
    ...shared,
    document: item({ token: bearerScheme, key: keyScheme }, { 'auth:refs': ['key', 'token'] }),
    credentials: [token(), key()],
    expect: { credential: 'key', request: get(FILE, { 'x-api-key': 'k-1' }) },
  },
  {
    id: 'link',
    title: 'A link is authorized like an asset',
    source: 'authentication extension 1.1.0, auth:refs',
    url: ITEM_URL,
    target: '/links/0',
    document: {
      ...item({ token: bearerScheme }),
      links: [{ rel: 'derived_from', href: 'https://data.example/protected/raw.json', 'auth:refs': ['token'] }],
    },
    credentials: [token()],
    expect: { credential: 'token', request: get('https://data.example/protected/raw.json', { authorization: 'Bearer abc.def' }) },
  },
  {
    id: 'catalog-schemes',
    title: 'In a catalog or collection the schemes are a member of the document itself',
    source: 'authentication extension 1.1.0, auth:schemes',
    url: 'https://catalog.example/collection.json',
    target: '/assets/thumbnail',
    document: {
      type: 'Collection',
      stac_version: '1.1.0',
      stac_extensions: [EXTENSION],
      id: 'scenes',
      description: 'Scenes',
      license: 'CC-BY-4.0',
      extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [['2026-01-01T00:00:00Z', null]] } },
      'auth:schemes': { token: bearerScheme },
      links: [],
      assets: { thumbnail: { href: 'https://data.example/protected/t.png', 'auth:refs': ['token'] } },
    },
    credentials: [token()],
    expect: { credential: 'token', request: get('https://data.example/protected/t.png', { authorization: 'Bearer abc.def' }) },
  },
  {
    id: 'alternate',
    title: 'An alternate of an asset is authorized by its own references',
    source: 'authentication extension 1.1.0; alternate assets extension 1.2.0',
    url: ITEM_URL,
    target: '/assets/data/alternate/mirror',
    document: item(
      { token: bearerScheme, key: keyScheme },
      {
        'auth:refs': ['token'],
        alternate: { mirror: { href: 'https://mirror.example/scene.tif', 'auth:refs': ['key'] } },
      },
    ),
    credentials: [token(), key({ sendTo: ['https://mirror.example/'] })],
    expect: { credential: 'key', request: get('https://mirror.example/scene.tif', { 'x-api-key': 'k-1' }) },
  },
  {
    id: 'wildcard-host',
    title: 'A pattern with a wildcard covers the hosts below it',
    source: 'credentials, sendTo',
    ...shared,
    document: item({ token: bearerScheme }, { href: 'https://eu.tiles.example/1/2/3.png' }),
    credentials: [token({ sendTo: ['https://*.tiles.example/'] })],
    expect: { credential: 'token', request: get('https://eu.tiles.example/1/2/3.png', { authorization: 'Bearer abc.def' }) },
  },
  {
    id: 'client-credentials',
    title: 'A token is requested with the client credentials grant and sent as a bearer token',
    source: 'RFC 6749 section 4.4',
    ...shared,
    document: item({
      oauth: {
        type: 'oauth2',
        flows: { clientCredentials: { tokenUrl: 'https://auth.example/token', scopes: { read: 'Read files' } } },
      },
    }),
    credentials: [
      {
        id: 'oauth',
        type: 'oauth2',
        flow: 'clientCredentials',
        tokenUrl: 'https://auth.example/token',
        clientId: 'app',
        clientSecret: 's3cret',
        scopes: ['read'],
        sendTo: ['https://data.example/'],
      },
    ],
    network: [
      {
        request: {
          method: 'POST',
          url: 'https://auth.example/token',
          headers: { authorization: 'Basic YXBwOnMzY3JldA==' },
          form: { grant_type: 'client_credentials', scope: 'read' },
        },
        response: { status: 200, json: { access_token: 'at-1', token_type: 'Bearer', expires_in: 3600 } },
      },
    ],
    expect: { credential: 'oauth', request: get(FILE, { authorization: 'Bearer at-1' }) },
  },
  {
    id: 'signed-url-get',
    title: 'A signing API is asked with the parameters of the scheme, and the signed URL is fetched without any credential',
    source: 'authentication extension 1.1.0, signedUrl',
    ...shared,
    document: item({
      signer: {
        type: 'signedUrl',
        flows: {
          authorizationCode: {
            authorizationApi: 'https://sign.example/v1/sign',
            method: 'GET',
            responseField: 'signed',
            parameters: { href: { in: 'query', required: true, schema: { type: 'string' } } },
          },
        },
      },
    }),
    credentials: [
      {
        id: 'signer',
        type: 'signedUrl',
        authorizationApi: 'https://sign.example/v1/sign',
        method: 'GET',
        signedUrlHosts: ['https://data.example/'],
      },
    ],
    network: [
      {
        request: get('https://sign.example/v1/sign?href=https%3A%2F%2Fdata.example%2Fprotected%2Fscene.tif'),
        response: { status: 200, json: { signed: `${FILE}?sig=1` } },
      },
    ],
    expect: { credential: 'signer', request: get(`${FILE}?sig=1`) },
  },
  {
    id: 's3-header',
    title: 'A request to an object store is signed with Signature Version 4',
    source: 'Amazon S3 API Reference, Authenticating Requests (AWS Signature Version 4)',
    ...shared,
    now: '2013-05-24T00:00:00Z',
    document: item(
      { s3: { type: 's3' } },
      { href: 's3://examplebucket/test.txt', 'storage:refs': ['aws'] },
      {
        'storage:schemes': {
          aws: { type: 'aws-s3', platform: 'https://{bucket}.s3.{region}.amazonaws.com', bucket: 'examplebucket', region: 'us-east-1' },
        },
      },
    ),
    credentials: [
      {
        id: 's3',
        type: 's3',
        accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        region: 'us-east-1',
        sendTo: ['s3://examplebucket/'],
      },
    ],
    expect: {
      credential: 's3',
      request: {
        ...get('https://examplebucket.s3.us-east-1.amazonaws.com/test.txt', { 'x-amz-date': '20130524T000000Z' }),
        signature: 'AWS4-HMAC-SHA256',
      },
    },
  },
]

/** What must not be sent: the title says the attack or the mistake. */
const refusals: readonly AuthorizeCase[] = [
  {
    id: 'no-credential',
    title: 'Without a credential for any reference nothing is sent',
    source: 'credentials',
    ...shared,
    document: item({ token: bearerScheme }),
    credentials: [key()],
    expect: { refused: 'NO_CREDENTIAL' },
  },
  ...Object.entries({
    'other-host': ['https://evil.example/protected/scene.tif', 'a host that the user did not name'],
    'look-alike-suffix': ['https://data.example.evil.example/protected/scene.tif', 'a host that begins with the name of the granted one'],
    'look-alike-prefix': ['https://evil-data.example/protected/scene.tif', 'a host that ends in the name of the granted one'],
    'other-port': ['https://data.example:8443/protected/scene.tif', 'another port of the granted host'],
    'other-path': ['https://data.example/public/scene.tif', 'a path outside the granted one'],
    'dot-segments': ['https://data.example/protected/../public/scene.tif', 'a path that leaves the granted one by dot segments'],
    'encoded-dot-segments': [
      'https://data.example/protected/%2e%2e/public/scene.tif',
      'a path that leaves the granted one by encoded dot segments',
    ],
    'path-prefix': ['https://data.example/protected-not/scene.tif', 'a path that only begins with the letters of the granted one'],
  }).map(
    ([id, [href, what]]): AuthorizeCase => ({
      id: `untrusted-${id}`,
      title: `A token is not sent to ${what}`,
      source: 'credentials, sendTo; RFC 3986 section 5.2.4',
      ...shared,
      document: item({ token: bearerScheme }, { href }),
      credentials: [token()],
      expect: { refused: 'CREDENTIAL_TARGET_UNTRUSTED' },
    }),
  ),
  {
    id: 'pattern-without-slash',
    title: 'A pattern without a slash at its end covers whole path segments only',
    source: 'credentials, sendTo',
    ...shared,
    document: item({ token: bearerScheme }, { href: 'https://data.example/stacked/scene.tif' }),
    credentials: [token({ sendTo: ['https://data.example/stac'] })],
    expect: { refused: 'CREDENTIAL_TARGET_UNTRUSTED' },
  },
  {
    id: 'wildcard-is-no-apex',
    title: 'A pattern with a wildcard covers no host that only ends in the same letters',
    source: 'credentials, sendTo',
    ...shared,
    document: item({ token: bearerScheme }, { href: 'https://eviltiles.example/1.png' }),
    credentials: [token({ sendTo: ['https://*.tiles.example/'] })],
    expect: { refused: 'CREDENTIAL_TARGET_UNTRUSTED' },
  },
  {
    id: 'insecure',
    title: 'A token is not sent without TLS',
    source: 'RFC 6750 section 5.3',
    ...shared,
    document: item({ token: bearerScheme }, { href: 'http://data.example/protected/scene.tif' }),
    credentials: [token()],
    expect: { refused: 'URL_INSECURE' },
  },
  {
    id: 'userinfo',
    title: 'An href with a user name in it is refused',
    source: 'RFC 3986 section 7.5',
    ...shared,
    document: item({ token: bearerScheme }, { href: 'https://data.example@evil.example/protected/scene.tif' }),
    credentials: [token()],
    expect: { refused: 'URL_HAS_USERINFO' },
  },
  ...['file:///etc/passwd', 'javascript:alert(1)', 'data:text/plain,a'].map(
    (href): AuthorizeCase => ({
      id: `scheme-of-${href.slice(0, href.indexOf(':'))}`,
      title: `A URL of the scheme ${href.slice(0, href.indexOf(':'))} is refused`,
      source: 'RFC 3986 section 7',
      ...shared,
      document: item({ token: bearerScheme }, { href }),
      credentials: [token()],
      expect: { refused: 'URL_SCHEME_FORBIDDEN' },
    }),
  ),
  {
    id: 'renamed-header',
    title: 'The document cannot move a key into another header field',
    source: 'authentication extension 1.1.0, apiKey',
    ...shared,
    document: item({ key: { type: 'apiKey', name: 'X-Other-Key', in: 'header' } }),
    credentials: [key()],
    expect: { refused: 'SCHEME_MISMATCH' },
  },
  {
    id: 'header-to-query',
    title: 'The document cannot move a key from a header field into the URL',
    source: 'authentication extension 1.1.0, apiKey',
    ...shared,
    document: item({ key: { type: 'apiKey', name: 'X-Api-Key', in: 'query' } }),
    credentials: [key()],
    expect: { refused: 'SCHEME_MISMATCH' },
  },
  {
    id: 'other-token-endpoint',
    title: 'The document cannot send the client secret to another token endpoint',
    source: 'RFC 6749 section 10.3',
    ...shared,
    document: item({ oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://evil.example/token', scopes: {} } } } }),
    credentials: [
      {
        id: 'oauth',
        type: 'oauth2',
        flow: 'clientCredentials',
        tokenUrl: 'https://auth.example/token',
        clientId: 'app',
        clientSecret: 's3cret',
        sendTo: ['https://data.example/'],
      },
    ],
    expect: { refused: 'CREDENTIAL_ENDPOINT_UNTRUSTED' },
  },
  {
    id: 'other-signing-api',
    title: 'The document cannot name a signing API that the user did not',
    source: 'authentication extension 1.1.0, signedUrl',
    ...shared,
    document: item({
      signer: {
        type: 'signedUrl',
        flows: { authorizationCode: { authorizationApi: 'https://evil.example/sign', method: 'GET', responseField: 'href' } },
      },
    }),
    credentials: [
      {
        id: 'signer',
        type: 'signedUrl',
        authorizationApi: 'https://sign.example/v1/sign',
        method: 'GET',
        signedUrlHosts: ['https://data.example/'],
      },
    ],
    expect: { refused: 'CREDENTIAL_ENDPOINT_UNTRUSTED' },
  },
  {
    id: 'signed-url-elsewhere',
    title: 'A signing API cannot lead to a host that the user did not name for it',
    source: 'authentication extension 1.1.0, signedUrl',
    ...shared,
    document: item({
      signer: {
        type: 'signedUrl',
        flows: { authorizationCode: { authorizationApi: 'https://sign.example/v1/sign', method: 'GET', responseField: 'href' } },
      },
    }),
    credentials: [
      {
        id: 'signer',
        type: 'signedUrl',
        authorizationApi: 'https://sign.example/v1/sign',
        method: 'GET',
        signedUrlHosts: ['https://data.example/'],
      },
    ],
    network: [
      {
        request: get('https://sign.example/v1/sign'),
        response: { status: 200, json: { href: 'https://evil.example/scene.tif?sig=1' } },
      },
    ],
    expect: { refused: 'SIGNED_URL_FORBIDDEN' },
  },
  {
    id: 'undefined-ref',
    title: 'A reference to a scheme that is not defined is refused',
    source: 'authentication extension 1.1.0, auth:refs',
    ...shared,
    document: item({ token: bearerScheme }, { 'auth:refs': ['tokens'] }),
    credentials: [token()],
    expect: { refused: 'SCHEME_NOT_FOUND' },
  },
  {
    id: 'prototype-ref',
    title: 'A reference by the name of a property that every object has is not defined',
    source: 'authentication extension 1.1.0, auth:refs',
    ...shared,
    document: item({ token: bearerScheme }, { 'auth:refs': ['constructor'] }),
    credentials: [token()],
    expect: { refused: 'SCHEME_NOT_FOUND' },
  },
  {
    id: 'bucket-of-others',
    title: 'Keys of one bucket are not used for another',
    source: 'credentials, sendTo',
    ...shared,
    document: item({ s3: { type: 's3' } }, { href: 's3://other-bucket/scene.tif' }),
    credentials: [
      {
        id: 's3',
        type: 's3',
        accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        region: 'us-east-1',
        sendTo: ['s3://examplebucket/'],
      },
    ],
    expect: { refused: 'CREDENTIAL_TARGET_UNTRUSTED' },
  },
]

export const authorizeCases: readonly AuthorizeCase[] = [...sent, ...refusals]
