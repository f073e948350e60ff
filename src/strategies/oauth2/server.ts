/** The authorization server of a credential: endpoints from the credential, or published by its issuer. */
import type { ServerMetadata } from 'openid-client'
import { matchesAny, namedOrigin } from '../../auth/url-pattern.ts'
import { isAuthError, TrustError } from '../../errors.ts'
import { isLoopbackHost } from '../../http/url.ts'
import { withRetryAfter } from '../../net/retry.ts'
import { type JsonObject, own, ownString } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { methodOf, type OAuth2Context, type OAuth2Credential } from './credential.ts'
import { type Endpoint, invalidAnswer, membersOf, readResponse, unexpectedStatus, withTokenRetries } from './endpoint.ts'

const SUFFIX = '/.well-known/openid-configuration'

const RFC_8414 = '/.well-known/oauth-authorization-server'

/** Milliseconds for which published metadata are cached. */
const LIFE = 3_600_000

/** Members that are URLs, and the field of a credential that overrides each. */
const ADDRESSES: Readonly<Record<string, string | undefined>> = {
  token_endpoint: 'tokenUrl',
  authorization_endpoint: 'authorizationUrl',
  device_authorization_endpoint: 'deviceAuthorizationUrl',
  revocation_endpoint: 'revocationUrl',
  end_session_endpoint: 'endSessionUrl',
  pushed_authorization_request_endpoint: undefined,
  jwks_uri: 'jwksUrl',
}

/** Optional endpoints: ignored on hosts that are not allowed. */
const OPTIONAL = new Set([
  'device_authorization_endpoint',
  'revocation_endpoint',
  'end_session_endpoint',
  'pushed_authorization_request_endpoint',
])

/** Endpoints that may have another URL for clients with a certificate. */
const ALIASED = ['token_endpoint', 'device_authorization_endpoint', 'revocation_endpoint', 'pushed_authorization_request_endpoint']

/** Signature algorithms of ID tokens when the issuer publishes none. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519', 'RS384', 'PS384', 'ES384', 'RS512', 'PS512', 'ES512']

const FLAGS = ['authorization_response_iss_parameter_supported', 'require_pushed_authorization_requests']

const LISTS = ['code_challenge_methods_supported', 'id_token_signing_alg_values_supported']

/** Returns the hosts of published endpoints, besides the discovery document's, as URLs that end in a slash. */
export function hostsOf({ endpointHosts = [] }: OAuth2Credential): readonly string[] {
  return endpointHosts.flatMap((host) => {
    const origin = namedOrigin(host)
    return origin === undefined ? [] : [origin + host.path]
  })
}

/** Returns the URL of the discovery document (OpenID Connect Discovery 1.0 §4): a URL without the suffix is an issuer. */
export function discoveryUrl(url: string): string {
  return url.includes(SUFFIX) ? url : `${url.replace(/\/$/, '')}${SUFFIX}`
}

/** Returns where a credential's endpoints are discovered; undefined when it sets them itself. */
export function publishedAt(credential: OAuth2Credential): string | undefined {
  const { type, openIdConnectUrl, issuer } = credential
  const named = openIdConnectUrl ?? (type === 'openIdConnect' || lacksEndpoint(credential) ? issuer : undefined)
  return named === undefined ? undefined : discoveryUrl(named)
}

function lacksEndpoint({ flow, tokenUrl, authorizationUrl }: OAuth2Credential): boolean {
  const needsBrowser = flow === 'authorizationCode' || flow === 'implicit'
  return (flow !== 'implicit' && tokenUrl === undefined) || (needsBrowser && authorizationUrl === undefined)
}

/**
 * Returns the server's metadata (RFC 8414 §2). Published metadata are accepted only if they name the user's issuer, and only for endpoints on
 * the discovery document's origin or those of the credential.
 *
 * Errors: `OAUTH_ISSUER_MISMATCH`, `URL_INSECURE`, `CREDENTIAL_ENDPOINT_UNTRUSTED`, `OAUTH_REDIRECT`, `OAUTH_RESPONSE_INVALID`,
 * `HTTP_<status>`, those of the transport.
 */
export async function serverOf(context: OAuth2Context): Promise<ServerMetadata> {
  return (await publicationOf(context)).server
}

/** Returns the advice for an optional endpoint that is not used because the user does not allow its host; undefined for any other. */
export async function ignoredEndpoint(context: OAuth2Context, name: string): Promise<{ origin: string; hint: string } | undefined> {
  const { elsewhere } = await publicationOf(context)
  const url = elsewhere.get(name)
  return url === undefined ? undefined : { origin: new URL(url).origin, hint: hostsHint([...elsewhere], context.credential) }
}

/** The metadata of a server, and its optional endpoints on hosts that the user does not allow, by name. */
interface Publication {
  readonly server: ServerMetadata
  readonly elsewhere: ReadonlyMap<string, string>
}

async function publicationOf(context: OAuth2Context): Promise<Publication> {
  const { credential, clock } = context
  const url = publishedAt(credential)
  if (url === undefined) return { server: written(credential), elsewhere: new Map() }
  const { value } = await context.session.resolve<Publication>(`metadata ${url}`, async (signal) => {
    const publication = await published(url, { ...context, signal })
    return { value: publication, refreshAt: clock.now() + LIFE }
  })
  return value
}

function written(credential: OAuth2Credential): ServerMetadata {
  const { tokenUrl, authorizationUrl, issuer } = credential
  return {
    // The library requires a name; when the credential has none, it is compared with nothing.
    issuer: issuer ?? new URL(tokenUrl ?? authorizationUrl ?? '').origin,
    id_token_signing_alg_values_supported: ALGORITHMS,
    ...pinned(credential),
  }
}

async function published(url: string, context: OAuth2Context): Promise<Publication> {
  const { credential } = context
  const endpoint: Endpoint = { credential: credential.id, url, name: 'discovery document' }
  const metadata = await document(endpoint, context).catch((error: unknown) => {
    // Servers without OpenID Connect publish at another path (RFC 8414 §3.1).
    const other = isAuthError(error) && error.code === 'HTTP_404' && credential.type === 'oauth2' ? withoutOpenId(url) : undefined
    if (other === undefined) throw error
    return document({ ...endpoint, url: other }, context)
  })
  const issuer = checkedIssuer(metadata, url, credential)
  const aliases = methodOf(credential) === 'tls' ? own(metadata, 'mtls_endpoint_aliases') : undefined
  const addresses = new Map<string, string>()
  const elsewhere = new Map<string, string>()
  for (const [name, field] of Object.entries(ADDRESSES)) {
    // RFC 8705 §5: a client with a certificate uses the alias.
    const value = (ALIASED.includes(name) ? own(aliases, name) : undefined) ?? own(metadata, name)
    if (value === undefined || (field !== undefined && credential[field] !== undefined)) continue
    if (OPTIONAL.has(name) && !isUsable(value)) continue
    const address = checkedAddress(name, value, url, credential)
    const places = isOn(address, url, credential) ? addresses : elsewhere
    places.set(name, address)
  }
  if ([...elsewhere.keys()].some((name) => !OPTIONAL.has(name))) throw untrusted([...elsewhere], credential)
  const flags = FLAGS.map((name) => [name, own(metadata, name) === true])
  const lists = LISTS.flatMap((name) => (isTexts(own(metadata, name)) ? [[name, own(metadata, name)]] : []))
  return { server: { issuer, ...Object.fromEntries([...flags, ...lists, ...addresses]), ...pinned(credential) }, elsewhere }
}

async function document(endpoint: Endpoint, context: OAuth2Context): Promise<JsonObject> {
  return withTokenRetries(endpoint.url, context, async () => {
    const request = { method: 'GET', url: endpoint.url, headers: { accept: 'application/json' } }
    const read = await readResponse(await context.send(request, { signal: context.signal }), endpoint, context.clock)
    if (read.status >= 400) throw withRetryAfter(unexpectedStatus(endpoint, read.status), read.retryAfter)
    return membersOf(read, endpoint)
  })
}

/** True on the origin of the discovery document, or on hosts that the user allows. */
function isOn(address: string, from: string, { endpointHosts = [] }: OAuth2Credential): boolean {
  const url = new URL(address)
  return url.origin === new URL(from).origin || matchesAny(endpointHosts, url)
}

function withoutOpenId(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${RFC_8414}${pathname.replace(SUFFIX, '').replace(/\/$/, '')}`
}

/** Checks the issuer (RFC 8414 §3.3): it must be the user's. A tenant placeholder in the document is replaced by the user's tenant. */
function checkedIssuer(metadata: JsonObject, url: string, { id, issuer, openIdConnectUrl }: OAuth2Credential): string {
  const actual = ownString(metadata, 'issuer')
  const expected = issuer ?? url.slice(0, url.indexOf(SUFFIX))
  if (actual !== undefined && actual.replace(/\/$/, '') === expected.replace(/\/$/, '')) return actual
  if (actual !== undefined && issuer !== undefined && openIdConnectUrl !== undefined && fillsTenant(issuer, actual)) return issuer
  const hint = openIdConnectUrl !== undefined && issuer === undefined ? issuerHint(actual) : undefined
  throw new TrustError('OAUTH_ISSUER_MISMATCH', `the discovery document of "${id}" belongs to another issuer`, {
    credential: id,
    url,
    expected,
    ...(actual !== undefined && { actual: actual.slice(0, 200) }),
    ...(hint !== undefined && { hint }),
  })
}

/** Multi-tenant documents name the issuer as a template; one path segment replaces the tenant. */
const TENANT = '{tenantid}'

function fillsTenant(issuer: string, template: string): boolean {
  const [before = '', after, ...more] = template.split(TENANT)
  if (after === undefined || more.length > 0 || !before.endsWith('/') || !(after === '' || after.startsWith('/'))) return false
  if (!issuer.startsWith(before) || !issuer.endsWith(after)) return false
  return /^[A-Za-z0-9-]+$/.test(issuer.slice(before.length, issuer.length - after.length))
}

function issuerHint(actual = ''): string | undefined {
  if (!canParseUrl(actual) || actual.length > 200 || !/^[\x21-\x7e]+$/.test(actual)) return undefined
  const tenant = actual.includes(TENANT) ? `, with your tenant in place of ${TENANT}` : ''
  return `if that is the issuer of your provider, add "issuer": "${actual}" to the credential${tenant}`
}

function checkedAddress(name: string, value: unknown, from: string, credential: OAuth2Credential): string {
  const { id } = credential
  if (typeof value !== 'string' || !canParseUrl(value)) {
    throw invalidAnswer({ credential: id, url: from, name: 'discovery document' }, `has no usable ${name}`)
  }
  const url = new URL(value)
  url.hash = ''
  if (!isUsable(value)) {
    throw new TrustError('URL_INSECURE', `${name} in the discovery document of "${id}" is not an https URL`, { credential: id, url: from })
  }
  return url.href
}

/** True for an https URL, and for http on loopback. */
function isUsable(value: unknown): boolean {
  if (typeof value !== 'string' || !canParseUrl(value)) return false
  const { protocol, hostname } = new URL(value)
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
}

type Named = readonly [name: string, url: string]

/** Returns `CREDENTIAL_ENDPOINT_UNTRUSTED` for all endpoints on hosts that the user does not allow, also the optional ones: one answer is enough. */
function untrusted(elsewhere: readonly Named[], credential: OAuth2Credential): TrustError {
  const { id } = credential
  const [[name, url] = ['', ''], ...more] = elsewhere.filter(([one]) => !OPTIONAL.has(one))
  const field = more.length === 0 && elsewhere.length === 1 ? ADDRESSES[name] : undefined
  const list = elsewhere.map(([one, address]) => `${one} on ${new URL(address).origin}${OPTIONAL.has(one) ? ' (optional)' : ''}`)
  const message = `"${id}" has endpoints that are not on the origin of its discovery document: ${list.join(', ')}. Nothing was sent`
  const alone = field === undefined ? '' : `; or this endpoint alone as "${field}"`
  return new TrustError('CREDENTIAL_ENDPOINT_UNTRUSTED', message, {
    credential: id,
    url,
    hint: `${hostsHint(elsewhere, credential)}${alone}`,
  })
}

/** Returns the complete field, so that no host of before is lost. */
function hostsHint(elsewhere: readonly Named[], { id, endpointHosts = [] }: OAuth2Credential): string {
  const hosts = [...endpointHosts.map(({ pattern }) => pattern), ...elsewhere.map(([, url]) => `${new URL(url).origin}/`)]
  return `if you trust them, set in the credential "${id}": "endpointHosts": ${JSON.stringify([...new Set(hosts)])}`
}

/** Returns the fields of the credential, which override published ones. */
function pinned(credential: OAuth2Credential): Partial<ServerMetadata> {
  const pins = Object.entries(ADDRESSES).flatMap(([name, field]) => (field && credential[field] ? [[name, credential[field]]] : []))
  return Object.fromEntries(pins)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
