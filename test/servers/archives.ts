/**
 * Archives and providers as their documentation describes them, host by host, for the examples of credentials. Each one refuses what the
 * real one refuses: other hosts, other secrets, other parameters, other methods.
 */
import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { createOrderArchives, type OrderArchiveOptions, type OrderArchives } from './order-archives.ts'
import { S3Refusal, type S3ServerKey, verify } from './s3-signature.ts'

export interface ArchiveRequest {
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ArchiveAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

type Answering = (request: ArchiveRequest, url: URL) => ArchiveAnswer

/** What users of all these archives have; the careful one has a second factor. */
export const SECRET = 'good-secret'
export const USER = 'ada'
export const CAREFUL_USER = 'ada-2fa'
export const TOTP = '123456'
export const KEY_ID = 'AKIDEXAMPLE0000'
const FILE: ArchiveAnswer = { status: 200, headers: { 'content-type': 'image/tiff', 'content-length': '4' }, body: 'file' }
const NOT_HERE: ArchiveAnswer = { status: 404 }

export interface Archives extends Pick<OrderArchives, 'orders' | 'violations'> {
  /** Undefined for a host that is none of theirs. */
  answer(request: ArchiveRequest): ArchiveAnswer | undefined
  /** Where the browser of a person who logs in at that URL ends; undefined for a request that no realm takes. */
  visit(url: string): URL | undefined
}

/** All of them, each with users of its own. */
export function createArchives(ordering: OrderArchiveOptions = {}): Archives {
  const realms: Realm[] = []
  const createRealm = (...given: Parameters<typeof realmOf>) => {
    const realm = realmOf(...given)
    realms.push(realm)
    return realm
  }
  const hosts: Readonly<Record<string, Answering>> = {
    ...planetaryComputer(),
    ...theia(),
    ...copernicus(createRealm),
    ...earthdata(),
    ...eumetsat(),
    ...terrascope(createRealm),
    ...sentinelHub(createRealm),
    ...planet(),
    ...eodms(),
    ...creodias(createRealm),
    ...up42(createRealm),
    ...byHeader(),
    ...byToken(),
    ...byClient(),
    'copernicus.nci.org.au': guarded((authorization) => authorization === basic(USER, SECRET)),
    'my.meteoblue.com': (_request, url) => (url.searchParams.getAll('apikey').join() === SECRET ? FILE : { status: 401 }),
    'download.geoservice.dlr.de': guarded((authorization) => authorization === basic(USER, SECRET)),
    'usgs-landsat.s3.us-west-2.amazonaws.com': store({ region: 'us-west-2', payer: 'requester' }),
    'sentinel-s2-l1c.s3.eu-central-1.amazonaws.com': store({ region: 'eu-central-1', payer: 'requester' }),
  }
  const isUp42 = (authorization: string) => realms.some((realm) => realm.clientOf(authorization, 'Bearer ') === 'up42-api')
  const ordered = createOrderArchives({ key: SECRET, isUp42 }, ordering)
  return {
    orders: ordered.orders,
    violations: ordered.violations,
    answer: (request) => {
      const url = new URL(request.url)
      if (url.protocol !== 'https:') return undefined
      const first = ORDERED.test(url.pathname) || !hosts[url.host] ? ordered.hosts[url.host] : undefined
      return (first ?? hosts[url.host])?.(request, url)
    },
    visit: (url) => realms.map((realm) => realm.visit(new URL(url))).find((callback) => callback !== undefined),
  }
}

/** Paths of files that are ordered first. */
const ORDERED =
  /^\/api\/retrieve\/v1\/(?:processes\/|jobs\/job-)|\/v1\/dataaccess\/download(?:s|\/d-\d+)?$|^\/data\/v1\/assets\/|^\/dds\/v1\/item\/|^\/v2\/assets\/[\da-f-]{36}/

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

/** Files for those whose `Authorization` is right; all others are asked for it. */
function guarded(isGood: (authorization: string) => boolean, scheme = 'Basic'): Answering {
  return ({ method, headers }) => {
    if (method !== 'GET') return { status: 405 }
    return isGood(headers.authorization ?? '') ? FILE : { status: 401, headers: { 'www-authenticate': `${scheme} realm="files"` } }
  }
}

/** A bucket, by its host or by its path. */
function store({ region, payer, bucket }: { region: string; payer?: string; bucket?: string }): Answering {
  const keys: S3ServerKey[] = [{ accessKeyId: KEY_ID, secretAccessKey: SECRET }]
  return ({ method, headers }, url) => {
    if (bucket !== undefined && !url.pathname.startsWith(`/${bucket}/`))
      return { status: 404, body: '<Error><Code>NoSuchBucket</Code></Error>' }
    try {
      verify({ method, url: url.pathname + url.search, headers: { ...headers, host: url.host } }, { keys, region, now: Date.now() })
      if (headers['x-amz-request-payer'] === payer) return FILE
      throw new S3Refusal(403, 'AccessDenied', 'Access Denied')
    } catch (error) {
      if (!(error instanceof S3Refusal)) throw error
      return { status: error.status, headers: { 'content-type': 'application/xml' }, body: `<Error><Code>${error.code}</Code></Error>` }
    }
  }
}

/** Its API signs addresses on Azure storage for everybody; a signature is good for a container. */
function planetaryComputer(): Readonly<Record<string, Answering>> {
  const signature = (container: string, end: string) => createHmac('sha256', 'account key').update(`${container}\n${end}`).digest('base64')
  const containerOf = ({ host, pathname }: URL) => `${host}/${pathname.split('/')[1]}`
  return {
    'planetarycomputer.microsoft.com': ({ method, headers }, url) => {
      const [, account, container] = /^\/api\/sas\/v1\/token\/([a-z0-9]+)\/([a-z0-9$-]+)$/.exec(url.pathname) ?? []
      if (url.pathname !== '/api/sas/v1/sign' && account === undefined) return NOT_HERE
      if (method !== 'GET') return { status: 405 }
      if (headers.authorization !== undefined || headers.cookie !== undefined) return { status: 400, body: { detail: 'nobody asked' } }
      const href = url.searchParams.get('href')
      const wanted = account === undefined ? href : `https://${account}.blob.core.windows.net/${container}/`
      if (wanted === null || url.searchParams.size !== (account === undefined ? 1 : 0)) return { status: 422, body: { detail: 'href' } }
      const end = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, '')
      const sas = new URLSearchParams({ se: end, sp: 'rl', sv: '2024-05-04', sr: 'c', sig: signature(containerOf(new URL(wanted)), end) })
      return { status: 200, body: { 'msft:expiry': end, ...(account === undefined ? { href: `${href}?${sas}` } : { token: String(sas) }) } }
    },
    'landsateuwest.blob.core.windows.net': ({ headers }, url) => {
      if (!url.searchParams.has('sig')) return { status: 409, body: '<Error><Code>PublicAccessNotPermitted</Code></Error>' }
      const isGood = url.searchParams.get('sig') === signature(containerOf(url), url.searchParams.get('se') ?? '')
      return isGood && headers.authorization === undefined
        ? FILE
        : { status: 403, body: '<Error><Code>AuthenticationFailed</Code></Error>' }
    },
  }
}

/** Its API signs URLs of its store for whoever has both keys; the store takes signed URLs alone. */
function theia(): Readonly<Record<string, Answering>> {
  const signature = (path: string) => createHmac('sha256', 'key of the store').update(path).digest('hex')
  return {
    'signing.stac.teledetection.fr': ({ method, headers }, url) => {
      if (url.pathname !== '/sign') return NOT_HERE
      if (method !== 'GET') return { status: 405 }
      const wanted = url.searchParams.get('url')
      if (wanted === null || url.searchParams.size !== 1) return { status: 422, body: { detail: 'url' } }
      if (headers['access-key'] !== KEY_ID || headers['secret-key'] !== SECRET) return { status: 401, body: { detail: 'Unauthorized' } }
      const { origin, pathname } = new URL(wanted)
      const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
      const query = new URLSearchParams({
        'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
        'X-Amz-Credential': 'store',
        'X-Amz-Date': date,
        'X-Amz-Expires': '28800',
        'X-Amz-SignedHeaders': 'host',
        'X-Amz-Signature': signature(pathname),
      })
      return { status: 200, body: { href: `${origin}${pathname}?${query}` } }
    },
    's3-data.meso.umontpellier.fr': ({ headers }, url) => {
      const isGood = url.searchParams.get('X-Amz-Signature') === signature(url.pathname)
      const isBare = ['authorization', 'access-key', 'secret-key'].every((name) => headers[name] === undefined)
      return isGood && isBare ? FILE : { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' }
    },
  }
}

function copernicus(createRealm: typeof realmOf): Readonly<Record<string, Answering>> {
  const openEo = 'sh-b1c3a958-52d4-40fe-a333-153595d1c71e'
  const clients = { 'cdse-public': {}, [openEo]: {}, 'sh-mine': { secret: SECRET } }
  const realm = createRealm('https://identity.dataspace.copernicus.eu/auth/realms/CDSE', clients)
  const zipper = guarded((authorization) => realm.clientOf(authorization, 'Bearer ') === 'cdse-public', 'Bearer')
  return {
    'identity.dataspace.copernicus.eu': realm.answer,
    'zipper.dataspace.copernicus.eu': zipper,
    'download.dataspace.copernicus.eu': ({ method }, url) =>
      method === 'GET' ? { status: 301, headers: { location: `https://zipper.dataspace.copernicus.eu${url.pathname}` } } : { status: 405 },
    'eodata.dataspace.copernicus.eu': store({ region: 'default', bucket: 'eodata' }),
    'sh.dataspace.copernicus.eu': guarded((authorization) => realm.clientOf(authorization, 'Bearer ') === 'sh-mine', 'Bearer'),
    'openeo.dataspace.copernicus.eu': guarded((authorization) => realm.clientOf(authorization, 'Bearer oidc/CDSE/') === openEo, 'Bearer'),
  }
}

/** The end of a token of Earthdata, 60 days from now. */
const TOKEN_LIFE = 60 * 86_400_000

/** A login that gives a token for user name and password, the present one while it is valid, and at most two. */
function earthdataLogin() {
  const tokens = new Map<string, number>()
  const isValid = (token: string) => (tokens.get(token) ?? 0) > Date.now()
  const shown = (token: string): ArchiveAnswer => {
    const [year, month, day] = new Date(tokens.get(token) ?? 0).toISOString().slice(0, 10).split('-')
    return { status: 200, body: { access_token: token, token_type: 'Bearer', expiration_date: `${month}/${day}/${year}` } }
  }
  const create = (): ArchiveAnswer => {
    if ([...tokens.keys()].filter(isValid).length >= 2)
      return { status: 403, body: { error: 'max_token_limit', error_description: 'Max token limit reached' } }
    const token = sha256(`earthdata ${tokens.size} ${Math.random()}`)
    tokens.set(token, Date.now() + TOKEN_LIFE)
    return shown(token)
  }
  const answer: Answering = ({ method, headers, body }, url) => {
    if (!url.pathname.startsWith('/api/users/')) return { status: 200, headers: { 'content-type': 'text/html' }, body: '<form>log in' }
    if (method !== 'POST' || body !== '') return { status: 404 }
    if (headers.authorization !== basic(USER, SECRET))
      return { status: 401, body: { error: 'invalid_credentials', error_description: 'Invalid user credentials' } }
    const present = [...tokens.keys()].find(isValid)
    if (url.pathname === '/api/users/find_or_create_token') return present === undefined ? create() : shown(present)
    if (url.pathname === '/api/users/token') return create()
    if (url.pathname !== '/api/users/revoke_token') return NOT_HERE
    return tokens.delete(url.searchParams.get('token') ?? '') ? { status: 200 } : { status: 404, body: { error: 'invalid_token' } }
  }
  return { answer, isValid }
}

/**
 * An archive of Earthdata Cloud: without a token to its login page, with a good one to a signed address, and keys for its bucket; and an
 * older one, which takes what its login gives.
 */
function earthdata(): Readonly<Record<string, Answering>> {
  const signed = 'd1nklfio7vscoe.cloudfront.net'
  const login = earthdataLogin()
  const isGood = (authorization: string) =>
    authorization === `Bearer ${SECRET}` || (authorization.startsWith('Bearer ') && login.isValid(authorization.slice(7)))
  return {
    'data.lpdaac.earthdatacloud.nasa.gov': ({ method, headers }, url) => {
      if (method !== 'GET') return { status: 405 }
      if (headers.authorization === undefined)
        return { status: 302, headers: { location: 'https://urs.earthdata.nasa.gov/oauth/authorize' } }
      if (!isGood(headers.authorization)) return { status: 401 }
      if (url.pathname !== '/s3credentials')
        return { status: 303, headers: { location: `https://${signed}${url.pathname}?Signature=of-it` } }
      const expiration = `${new Date(Date.now() + 3_600_000).toISOString().slice(0, 19).replace('T', ' ')}+00:00`
      return { status: 200, body: { accessKeyId: KEY_ID, secretAccessKey: SECRET, sessionToken: 'of-the-hour', expiration } }
    },
    [signed]: ({ headers }, url) =>
      url.searchParams.get('Signature') === 'of-it' && headers.authorization === undefined ? FILE : { status: 400 },
    'lp-prod-protected.s3.us-west-2.amazonaws.com': ({ method, headers }, url) => {
      const keys = [{ accessKeyId: KEY_ID, secretAccessKey: SECRET, sessionToken: 'of-the-hour' }]
      try {
        verify(
          { method, url: url.pathname + url.search, headers: { ...headers, host: url.host } },
          { keys, region: 'us-west-2', now: Date.now() },
        )
        return FILE
      } catch {
        return { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' }
      }
    },
    'urs.earthdata.nasa.gov': login.answer,
  }
}

/** One host has both: tokens for a consumer key and secret, and the data. */
function eumetsat(): Readonly<Record<string, Answering>> {
  return {
    'api.eumetsat.int': ({ method, headers, body }, url) => {
      if (url.pathname.startsWith('/data/download/'))
        return guarded((given) => given === 'Bearer of-the-hour', 'Bearer')({ method, headers, body, url: url.href }, url)
      if (url.pathname !== '/token' || method !== 'POST') return NOT_HERE
      if (headers.authorization !== basic('my-key', SECRET)) return { status: 401, body: { error: 'invalid_client' } }
      if (new URLSearchParams(body).get('grant_type') !== 'client_credentials')
        return { status: 400, body: { error: 'unsupported_grant_type' } }
      return {
        status: 200,
        body: { access_token: 'of-the-hour', scope: 'am_application_scope default', token_type: 'Bearer', expires_in: 3600 },
      }
    },
  }
}

function terrascope(createRealm: typeof realmOf): Readonly<Record<string, Answering>> {
  const realm = createRealm('https://sso.terrascope.be/auth/realms/terrascope', { public: {} })
  return {
    'sso.terrascope.be': realm.answer,
    'services.terrascope.be': guarded((authorization) => realm.clientOf(authorization, 'Bearer ') === 'public', 'Bearer'),
  }
}

/** Issuer and data are on one host here. */
function sentinelHub(createRealm: typeof realmOf): Readonly<Record<string, Answering>> {
  const realm = createRealm('https://services.sentinel-hub.com/auth/realms/main', { 'my-client': { secret: SECRET } })
  const data = guarded((authorization) => realm.clientOf(authorization, 'Bearer ') === 'my-client', 'Bearer')
  return {
    'services.sentinel-hub.com': (request, url) => (url.pathname.startsWith('/auth/') ? realm.answer(request, url) : data(request, url)),
  }
}

/** The key as user name with an empty password, with a scheme of its own, or in the query for tiles. */
function planet(): Readonly<Record<string, Answering>> {
  return {
    'api.planet.com': guarded((authorization) => [basic(SECRET, ''), `api-key ${SECRET}`].includes(authorization)),
    'tiles.planet.com': (_request, url) => (url.searchParams.getAll('api_key').join() === SECRET ? FILE : { status: 401 }),
  }
}

/** A login in JSON. Refreshing is no token request there (a GET with the refresh token), so logins are all that OAuth clients get. */
function eodms(): Readonly<Record<string, Answering>> {
  const refused = (message: string): ArchiveAnswer => ({ status: 401, body: { error: 'Unauthorized', message } })
  return {
    'www.eodms-sgdot.nrcan-rncan.gc.ca': ({ method, headers, body }, url) => {
      if (url.pathname !== '/aaa/v1/login' || method !== 'POST') return NOT_HERE
      if (!headers['content-type']?.startsWith('application/json')) return { status: 415 }
      const { grant_type, username, password } = JSON.parse(body)
      if (grant_type !== 'password' || username !== USER || password !== SECRET) return refused('Invalid credentials')
      return { status: 200, body: { access_token: 'of-the-hour', refresh_token: 'of-the-day', token_type: 'Bearer', expires_in: 3600 } }
    },
    'eodms-sgdot.nrcan-rncan.gc.ca': guarded((authorization) => authorization === 'Bearer of-the-hour', 'Bearer'),
  }
}

/** Its token is in the query of downloads, never in a header. */
function creodias(createRealm: typeof realmOf): Readonly<Record<string, Answering>> {
  const realm = createRealm('https://identity.cloudferro.com/auth/realms/Creodias-new', { CLOUDFERRO_PUBLIC: {} })
  return {
    'identity.cloudferro.com': realm.answer,
    'zipper.creodias.eu': ({ headers }, url) => {
      const [token = '', ...more] = url.searchParams.getAll('token')
      const isGood = more.length === 0 && headers.authorization === undefined && realm.clientOf(token, '') === 'CLOUDFERRO_PUBLIC'
      return isGood ? FILE : { status: 401 }
    },
    'eodata.cloudferro.com': store({ region: 'us-east-1', bucket: 'eodata' }),
  }
}

function up42(createRealm: typeof realmOf): Readonly<Record<string, Answering>> {
  const realm = createRealm('https://auth.up42.com/realms/public', { 'up42-api': {} })
  return {
    'auth.up42.com': realm.answer,
    'api.up42.com': guarded((authorization) => realm.clientOf(authorization, 'Bearer ') === 'up42-api', 'Bearer'),
  }
}

/** APIs that take a key in a header of their own, and nothing else. */
function byHeader(): Readonly<Record<string, Answering>> {
  const taking =
    (name: string, value = SECRET): Answering =>
    ({ headers }) =>
      headers[name] === value && (name === 'authorization' || headers.authorization === undefined) ? FILE : { status: 401 }
  return {
    'geodes-portal.cnes.fr': taking('x-api-key'),
    'hydroweb.next.theia-land.fr': taking('x-api-key'),
    'cds.climate.copernicus.eu': taking('private-token'),
    'ads.atmosphere.copernicus.eu': taking('private-token'),
    'ewds.climate.copernicus.eu': taking('private-token'),
    'api.maxar.com': taking('maxar-api-key'),
    'api.capellaspace.com': taking('authorization', `ApiKey ${SECRET}`),
  }
}

/** Archives that take a token which a person copies from a page. */
function byToken(): Readonly<Record<string, Answering>> {
  const bearer = guarded((authorization) => authorization === `Bearer ${SECRET}`, 'Bearer')
  return {
    'dap.ceda.ac.uk': bearer,
    'gateway.prod.wekeo2.eu': (request, url) => {
      if (url.pathname !== '/hda-broker/gettoken') return bearer(request, url)
      if (request.method !== 'POST' || request.headers['content-type'] !== 'application/json') return { status: 415 }
      const { username, password, ...more } = JSON.parse(request.body)
      const isKnown = username === USER && password === SECRET && Object.keys(more).length === 0
      return isKnown ? { status: 200, body: { access_token: SECRET, refresh_token: 'of-the-day', expires_in: 3600 } } : { status: 403 }
    },
    'hda.data.destination-earth.eu': bearer,
    'data.inpe.br': ({ headers }, url) =>
      url.searchParams.getAll('access_token').join() === SECRET && headers.authorization === undefined ? FILE : { status: 403 },
  }
}

/** Services whose clients prove themselves in the way that each documents. */
function byClient(): Readonly<Record<string, Answering>> {
  const issued = { access_token: 'of-the-day', token_type: 'Bearer', expires_in: 86_400 }
  const data = guarded((authorization) => authorization === 'Bearer of-the-day', 'Bearer')
  const refused: ArchiveAnswer = { status: 401, body: { error: 'invalid_client' } }
  return {
    'api.earthdaily.com': (request, url) => {
      const { method, headers, body } = request
      if (url.pathname.startsWith('/platform/')) return data(request, url)
      if (url.pathname !== '/account_management/v1/authentication/api_tokens/exchange' || method !== 'POST') return NOT_HERE
      const isClient = headers.authorization === basic('EARTHDAILY_API_TOKEN', SECRET)
      return isClient && new URLSearchParams(body).get('grant_type') === 'client_credentials' ? { status: 200, body: issued } : refused
    },
    'auth.canopy.umbra.space': ({ method, headers, body }, url) => {
      if (url.pathname !== '/oauth/token' || method !== 'POST') return NOT_HERE
      const { client_id, client_secret, audience, grant_type } = Object.fromEntries(new URLSearchParams(body))
      if (audience !== 'https://api.canopy.umbra.space') return { status: 403, body: { error: 'access_denied' } }
      const isClient = client_id === 'mine' && client_secret === SECRET && headers.authorization === undefined
      return isClient && grant_type === 'client_credentials' ? { status: 200, body: issued } : refused
    },
    'api.canopy.umbra.space': data,
  }
}

interface Realm {
  readonly answer: Answering
  /** To which client a token behind that prefix was issued. */
  clientOf(authorization: string, prefix: string): string | undefined
  visit(url: URL): URL | undefined
}

type Clients = Readonly<Record<string, { readonly secret?: string }>>

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** A realm of Keycloak: discovery, keys, logins and the grants for programs; a client without a secret is public. */
function realmOf(issuer: string, clients: Clients): Realm {
  const tokens = new Map<string, string>()
  const codes = new Map<string, URLSearchParams>()
  const endpoint = `${issuer}/protocol/openid-connect`
  const idToken = (client: string, nonce: string | null | undefined) => {
    const at = Math.floor(Date.now() / 1000)
    const claims = { iss: issuer, sub: USER, aud: client, iat: at, exp: at + 300, ...(nonce && { nonce }) }
    const text = [{ alg: 'RS256', kid: 'one' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  }
  const issue = (client: string, asked: URLSearchParams): ArchiveAnswer => {
    const token = sha256(`${issuer} ${client} ${tokens.size}`)
    tokens.set(token, client)
    const isOpenId = asked.get('scope')?.split(' ').includes('openid')
    const id = isOpenId ? { id_token: idToken(client, asked.get('nonce')) } : {}
    return { status: 200, body: { access_token: token, expires_in: 600, token_type: 'Bearer', 'not-before-policy': 0, ...id } }
  }
  const granted = (client: string, form: URLSearchParams): ArchiveAnswer => {
    const grant = form.get('grant_type')
    const isPublic = clients[client]?.secret === undefined
    if (grant === 'client_credentials' && !isPublic) return issue(client, form)
    if (grant === 'password' && isPublic) return isUser(form) ? issue(client, form) : INVALID_USER
    if (grant !== 'authorization_code') return { status: 400, body: { error: 'unsupported_grant_type' } }
    const asked = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const isSame = asked?.get('client_id') === client && asked.get('redirect_uri') === form.get('redirect_uri')
    const isProved = asked?.get('code_challenge') === sha256(form.get('code_verifier') ?? '')
    return asked && isSame && isProved ? issue(client, asked) : { status: 400, body: { error: 'invalid_grant' } }
  }
  const published = {
    issuer,
    token_endpoint: `${endpoint}/token`,
    authorization_endpoint: `${endpoint}/auth`,
    jwks_uri: `${endpoint}/certs`,
  }
  const certificates = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] }
  return {
    clientOf: (authorization, prefix) => (authorization.startsWith(prefix) ? tokens.get(authorization.slice(prefix.length)) : undefined),
    answer: ({ method, headers, body }, url) => {
      if (url.href === `${issuer}/.well-known/openid-configuration`) return { status: 200, body: published }
      if (url.href === published.jwks_uri) return { status: 200, body: certificates }
      if (url.href !== published.token_endpoint || method !== 'POST') return NOT_HERE
      if (headers['content-type']?.split(';')[0] !== 'application/x-www-form-urlencoded') return { status: 415 }
      const form = new URLSearchParams(body)
      const client = clientFrom(headers.authorization, form, clients)
      return client === undefined ? { status: 401, body: { error: 'unauthorized_client' } } : granted(client, form)
    },
    visit: (url) => {
      const { client_id = '', redirect_uri = '', scope, state = '', ...asked } = Object.fromEntries(url.searchParams)
      const isLogin = url.origin + url.pathname === published.authorization_endpoint && Object.hasOwn(clients, client_id)
      if (!isLogin || asked.response_type !== 'code' || asked.code_challenge_method !== 'S256' || !scope?.includes('openid'))
        return undefined
      const code = sha256(`code ${codes.size} ${state}`)
      codes.set(code, url.searchParams)
      return new URL(`${redirect_uri}?${new URLSearchParams({ code, state, session_state: 'some', iss: issuer })}`)
    },
  }
}

const INVALID_USER: ArchiveAnswer = { status: 401, body: { error: 'invalid_grant', error_description: 'Invalid user credentials' } }

function isUser(form: URLSearchParams): boolean {
  const needed = form.get('username') === CAREFUL_USER ? TOTP : null
  return [USER, CAREFUL_USER].includes(form.get('username') ?? '') && form.get('password') === SECRET && form.get('totp') === needed
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** The client that proves itself, by Basic or in the body; never by both. */
function clientFrom(authorization: string | undefined, form: URLSearchParams, clients: Clients): string | undefined {
  const inBody = form.get('client_id')
  const id = inBody ?? Object.keys(clients).find((name) => authorization === basic(name, clients[name]?.secret ?? ''))
  if (id === undefined || !Object.hasOwn(clients, id)) return undefined
  const { secret } = clients[id] ?? {}
  if (secret === undefined) return authorization === undefined && !form.has('client_secret') ? id : undefined
  const proofs = [authorization === basic(id, secret), form.get('client_secret') === secret].filter(Boolean)
  return proofs.length === 1 ? id : undefined
}
