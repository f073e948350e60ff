/** Scheme type `s3`: requests to an object store, signed with AWS Signature Version 4. */
import { platform } from '#platform'
import {
  type AuthFlow,
  type AuthStep,
  authorized,
  handshake,
  type ObjectKeys,
  type Preparation,
  type Resource,
  remember,
  type Strategy,
} from '../../auth/strategy.ts'
import { patternsText } from '../../auth/url-pattern.ts'
import { type ConfigurationError, SelectionError, TrustError, UnsupportedError } from '../../errors.ts'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { sleep } from '../../net/cancellation.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { serviceOf, validRegion } from '../../stac/object-address.ts'
import type { S3Scheme } from '../../stac/scheme.ts'
import type { Target } from '../../stac/target.ts'
import { invalidField, isPlaceInAnswer, whenThere } from '../credential-values.ts'
import {
  covers,
  ID_PLACE,
  locationOf,
  placeFor,
  placeKey,
  placeOf,
  reaches,
  reachesPlace,
  type S3Credential,
  type SigningAddress,
  sameService,
  storagesFor,
  suits,
} from './endpoint.ts'
import {
  areSettling,
  isGiven,
  KEY_FIELDS,
  keyState,
  keysAtHand,
  keysOf,
  logout,
  refreshKeys,
  type S3Context,
  type S3PeekContext,
} from './keys.ts'
import { isStale, type Refusal, refusalOf, refusedBy, skewOf } from './refusal.ts'
import { presign, signHeaders } from './sigv4.ts'

/** Lifetime of a header signature. */
const SIGNATURE_LIFE = 15 * 60_000

/** HTTP methods of services that return keys. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH']
/** Code of a refusal of keys that the store does not know, or not yet. */
const UNKNOWN_KEY = 'InvalidAccessKeyId'
/** Milliseconds to wait between attempts with new keys: key managers name some seconds. */
const SETTLING_WAITS = [2000, 4000, 8000]

/** Signs for Amazon S3 and compatible stores. A wrong region, a wrong clock and expired keys are each corrected once. */
export const s3: Strategy<S3Scheme, S3Credential> = {
  type: 's3',
  forms: [
    {
      fields: {
        profile: { kind: 'text', label: 'Profile' },
        accessKeyId: { kind: 'secret', label: 'Access key id' },
        secretAccessKey: { kind: 'secret', label: 'Secret access key' },
        sessionToken: { kind: 'secret', label: 'Session token' },
        stsEndpoint: { kind: 'url', label: 'Security token service that gives keys for the token of the login in "with"' },
        roleArn: { kind: 'text', label: 'Role to assume there; MinIO needs none' },
        roleSessionName: { kind: 'text', label: 'Name of the session in logs of that service; default: stac-auth' },
        durationSeconds: { kind: 'number', label: 'Seconds that keys of that service are valid; default: chosen by the service' },
        webIdentityToken: {
          kind: 'text',
          label: 'Token sent to that service; default: the ID token of the login, else its access token',
          values: ['id_token', 'access_token'],
        },
        credentialsUrl: { kind: 'url', label: 'Service that returns keys' },
        with: { kind: 'id', label: 'Credential that authorizes calls of the service of the keys' },
        method: { kind: 'text', label: 'HTTP method of that call; default: GET, POST with a body', values: METHODS },
        body: { kind: 'members', label: 'Members of the body of that call; sources of secrets are read' },
        bodyType: { kind: 'text', label: 'Format of that body; default: json', values: ['json', 'form'] },
        fields: { kind: 'places', label: 'Members of the answer, or JSON Pointers, that hold the keys', values: KEY_FIELDS },
        releaseUrl: { kind: 'url', label: 'URL at which a logout deletes the keys, with {accessKeyId}' },
        releaseMethod: { kind: 'text', label: 'HTTP method of that call; default: DELETE', values: ['DELETE', 'POST'] },
        instanceMetadata: { kind: 'boolean', label: 'Keys may come from the metadata service of this machine' },
        region: { kind: 'text', label: 'Region' },
        endpoint: { kind: 'url', label: 'Endpoint' },
        virtualHost: { kind: 'boolean', label: 'Bucket in the host name' },
        requesterPays: { kind: 'boolean', label: 'I pay for transfers when the owner does not (requester pays)' },
      },
    },
  ],
  identity: () => [[]],
  schemeOf: () => ({ type: 's3' }),
  refine,
  describe: (_scheme, resource) => ({
    credential: { type: 's3', ...statedService(resource) },
    fields: {
      accessKeyId: { kind: 'secret', label: 'Access key id' },
      secretAccessKey: { kind: 'secret', label: 'Secret access key' },
      region: { kind: 'text', label: 'Region' },
    },
    carriedIn: 'signature',
  }),
  addressProblem,
  covers,
  suits,
  reaches,
  endpoints: ({ credentialsUrl, stsEndpoint, releaseUrl, keys, endpoint = keys?.endpoint }) => {
    const urls = [credentialsUrl, stsEndpoint, endpoint].filter((url) => url !== undefined)
    // The URL of a release contains the id of the keys.
    return releaseUrl === undefined ? urls : [...urls, { origin: new URL(releaseUrl).origin, publishedAt: releaseUrl }]
  },
  prepare,
  peek,
  authorize,
  open: openSteps,
  tokenState: keyState,
  logout,
}

/** Checks the region, and that keys have one source: the credential, a service, or else a profile or the environment. */
function refine(credential: S3Credential): S3Credential {
  const problem = sourceProblem(credential)
  if (problem) throw problem
  return credential.accessKeyId || credential.credentialsUrl || credential.stsEndpoint
    ? credential
    : { ...credential, keys: platform.s3Keys(credential) }
}

/** Returns endpoint and region from the document, for the user to check before they become part of a credential. */
function statedService(resource: Resource | undefined): { endpoint?: string; region?: string } {
  const [storage] = resource?.target ? storagesFor(resource.target) : []
  const { endpoint, virtualHost } = storage ? serviceOf(storage) : {}
  return { ...(endpoint && !virtualHost && { endpoint }), ...(storage?.region && { region: storage.region }) }
}

/** Refuses URLs that cannot be signed, and an endpoint of the document that is not allowed. */
function prepare({ credential, resource: { url, target } }: Preparation<S3Scheme, S3Credential>) {
  const problem = addressProblem(target?.href ?? url) ?? parameterProblem(url)
  if (problem) throw problem
  const place = placeFor(credential, url, target)
  if (reachesPlace(credential, place)) return []
  const { id, sendTo } = credential
  throw new SelectionError(
    'CREDENTIAL_TARGET_UNTRUSTED',
    `the request for bucket "${place.bucket}" would go to the endpoint ${place.endpoint}; "${id}" may be sent to ${patternsText(sendTo)}. Nothing was sent`,
    {
      ...(target && { pointer: `${target.pointer}/href` }),
      credential: id,
      actual: place.endpoint,
      hint: `keys belong to one service: if you have some for ${place.endpoint}, add another credential: ${JSON.stringify({ id: `${id}-2`, type: 's3', endpoint: place.endpoint, sendTo: [`s3://${place.bucket}/`] })}; only if those of "${id}" are for it, set "endpoint" in that one`,
    },
  )
}

function peek(request: HttpRequest, context: S3PeekContext): AuthStep | undefined {
  const keys = keysAtHand(context)
  if (!keys) return undefined
  const step = sign(request, keys, context, placeOfRequest(request, context, keys))
  return step instanceof Promise ? undefined : step
}

async function* authorize(request: HttpRequest, context: S3Context): AuthFlow {
  const { credential, clock } = context
  const corrected = new Set<string>()
  const waits = [...SETTLING_WAITS]
  for (;;) {
    const keys = await keysOf(context)
    const place = placeOfRequest(request, context, keys)
    const response = yield await sign(request, keys, context, place)
    let refusal = await refusalOf(response, place.region)
    if (!refusal) return
    if (request.method === 'HEAD' && !refusal.code && !refusal.region) {
      const probe: HttpRequest = { ...request, method: 'GET', headers: { ...request.headers, range: 'bytes=0-0' } }
      const answer = yield handshake((await sign(probe, keys, context, place)).request)
      refusal = (await refusalOf(answer, place.region)) ?? refusal
    }
    if (refusal.code === UNKNOWN_KEY && areSettling(keys, context)) {
      const wait = waits.shift()
      if (wait === undefined) throw refusedBy(refusal, credential.id, clock.now())
      await sleep(wait, clock, context.signal)
      continue
    }
    const correction = await correct(refusal, keys, place, context)
    if (!correction || corrected.has(correction))
      throw refusedBy(refusal, credential.id, clock.now(), payHint(refusal, place, credential, context.resource.target))
    corrected.add(correction)
  }
}

/** Returns the corrections for the next attempt, from a refusal; undefined when there are none. */
async function correct(
  refusal: Refusal,
  keys: S3Keys,
  place: SigningAddress,
  context: S3Context,
): Promise<'region' | 'clock' | 'keys' | undefined> {
  const { clock } = context
  if (refusal.region && refusal.region !== place.region) {
    await remember(context.session, regionKey(place), refusal.region)
    return 'region'
  }
  const skew = skewOf(refusal, clock.now())
  if (skew !== undefined) {
    await remember(context.session, skewKey(place), skew)
    return 'clock'
  }
  // Keys of a service may have been deleted there.
  const mayBeReplaced = isStale(refusal) || (refusal.code === UNKNOWN_KEY && isGiven(keys))
  return mayBeReplaced && (await refreshKeys(keys, context)) ? 'keys' : undefined
}

function sign(
  request: HttpRequest,
  keys: S3Keys,
  { credential, session, clock, resource }: S3PeekContext,
  place: SigningAddress,
): AuthStep | Promise<AuthStep> {
  const { id, requesterPays = false } = credential
  const problem = parameterProblem(request.url)
  if (problem) throw problem
  if (!reachesPlace(credential, place)) {
    throw new TrustError(
      'CREDENTIAL_TARGET_UNTRUSTED',
      `"${id}" may not be sent to ${new URL(place.url).origin} (region ${place.region}). Nothing was sent`,
      {
        credential: id,
        url: place.url,
        hint: `add that URL to the sendTo of credential "${id}"`,
      },
    )
  }
  const now = clock.now() + (session.get<number>(skewKey(place))?.value ?? 0)
  const options = { region: place.region, now, requesterPays }
  const { presign: expiresIn, keys: wanted } = resource
  if (expiresIn !== undefined) {
    const expiresAt = Math.min(clock.now() + expiresIn * 1000, keys.expiration ?? Infinity)
    return whenThere(presign({ ...request, url: place.url }, keys, { ...options, expiresIn }), (presigned) =>
      authorized(presigned, expiresAt),
    )
  }
  const signed = signHeaders({ ...request, url: place.url }, keys, options)
  const expiresAt = Math.min(clock.now() + SIGNATURE_LIFE, keys.expiration ?? Infinity)
  const location = locationOf(place, requesterPays)
  const step = (sent: HttpRequest): AuthStep => ({
    kind: 'authorized',
    request: sent,
    expiresAt,
    location,
    ...(wanted && { keys: objectKeys(keys) }),
  })
  return whenThere(signed, step)
}

/** Returns the keys without their region, which belongs to their source. */
function objectKeys({ accessKeyId, secretAccessKey, sessionToken, expiration }: S3Keys): ObjectKeys {
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken && { sessionToken }),
    ...(expiration !== undefined && { expiresAt: new Date(expiration).toISOString() }),
  }
}

function placeOfRequest({ url }: HttpRequest, { credential, resource, session }: S3PeekContext, keys: S3Keys): SigningAddress {
  return placeFor(credential, url, resource.target, keys, (address) => session.get<string>(regionKey(address))?.value)
}

const regionKey = (place: Parameters<typeof placeKey>[0]) => `region ${placeKey(place)}`

const skewKey = ({ url }: SigningAddress) => `skew ${new URL(url).origin}`

/**
 * Sends the request to the endpoint of the credential that matches it, else of the document, else of the environment, else Amazon; once
 * more in the region that Amazon names. It carries no credentials, so the document may choose the endpoint.
 */
async function* openSteps(request: HttpRequest, { url, target }: Resource, credential: Partial<S3Credential> = {}): AuthFlow {
  const problem = addressProblem(target?.href ?? url)
  if (problem) throw problem
  const environment = platform.s3Keys({})
  const placeIn = (inRegion?: string) =>
    placeOf(url, { credential, environment, storages: storagesFor(target), learned: () => inRegion, trusts: () => true })
  const place = placeIn()
  const response = yield { ...authorized({ ...request, url: place.url }), location: locationOf(place) }
  const region = regionIn(response)
  if (region === undefined || region === place.region) return
  const other = placeIn(region)
  if (other.url !== place.url) yield { ...authorized({ ...request, url: other.url }), location: locationOf(other) }
}

/** Returns the region of a response that concerns the region only: a redirect without a URL, or a refusal of this host. */
function regionIn({ status, headers }: HttpResponse): string | undefined {
  const elsewhere = (status === 301 && headers.get('location') === null) || status === 400
  return elsewhere ? (headers.get('x-amz-bucket-region') ?? undefined) : undefined
}

/**
 * Returns `URL_INVALID` for a query that cannot be signed; else undefined. Parameters named `x-amz-…` are part of
 * a signature (AWS, "Authenticating requests: using query parameters") and decide who pays and how long it is valid, which is for
 * the user alone to decide.
 */
function parameterProblem(url: string): UnsupportedError | undefined {
  const start = url.indexOf('?')
  if (start < 0) return undefined
  const name = [...new URLSearchParams(url.slice(start + 1)).keys()].find((parameter) => /^x-amz-/i.test(parameter))?.toLowerCase()
  if (name === undefined) return undefined
  return new UnsupportedError('URL_INVALID', `this URL cannot be signed: its query contains parameters of a signature`, {
    url,
    hint: HINTS[name] ?? 'remove the parameters that begin with x-amz-',
  })
}

const HINTS: { readonly [name: string]: string } = {
  'x-amz-request-payer': 'set "requesterPays" in the credential and remove that parameter from the URL',
  'x-amz-signature': 'use the https URL that was signed',
}

/**
 * Returns the hint when the document says that readers pay and access was denied; else undefined. One of two locations of
 * a file may be free: the storage of the service that refused decides, if there is one.
 */
function payHint(
  { code = 'AccessDenied' }: Refusal,
  { endpoint }: SigningAddress,
  credential: S3Credential,
  target: Target | undefined,
): string | undefined {
  if (code !== 'AccessDenied' || credential.requesterPays) return undefined
  const storages = storagesFor(target)
  const here = storages.filter((storage) => sameService(serviceOf(storage, credential).endpoint ?? '', endpoint))
  if (!(here.length > 0 ? here : storages).some(({ requesterPays }) => requesterPays)) return undefined
  return `the readers of this bucket pay: set "requesterPays": true in credential "${credential.id}" if you agree`
}

/** The sources of keys, by field. */
const SOURCES = ['accessKeyId', 'stsEndpoint', 'credentialsUrl', 'profile', 'instanceMetadata'] as const

/** Fields that only keys of such a source have. */
const OF_SOURCE: readonly (readonly [source: 'stsEndpoint' | 'credentialsUrl', fields: readonly string[]])[] = [
  ['stsEndpoint', ['roleArn', 'roleSessionName', 'durationSeconds', 'webIdentityToken']],
  ['credentialsUrl', ['method', 'body', 'bodyType', 'fields', 'releaseUrl', 'releaseMethod']],
]

/** Returns the problem of the region and of the fields that name the source of keys. */
function sourceProblem(credential: S3Credential): ConfigurationError | undefined {
  const { accessKeyId, secretAccessKey, sessionToken, credentialsUrl, stsEndpoint, region } = credential
  if (region !== undefined && validRegion(region) !== region)
    return invalidField('region', 'must be the name of a region, such as eu-central-1')
  if (!accessKeyId !== !secretAccessKey || (sessionToken && !accessKeyId))
    return invalidField('secretAccessKey', 'and accessKeyId must be set together')
  if (credential.with !== undefined && !credentialsUrl && !stsEndpoint)
    return invalidField('with', 'requires credentialsUrl or stsEndpoint, the service to call')
  if (stsEndpoint !== undefined && credential.with === undefined)
    return invalidField('stsEndpoint', 'requires "with", the credential whose token is sent there')
  for (const [source, fields] of OF_SOURCE) {
    const field = credential[source] === undefined && fields.find((name) => credential[name] !== undefined)
    if (field) return invalidField(field, `requires ${source}`)
  }
  const problem = serviceProblem(credential)
  if (problem) return problem
  const [one, ...others] = SOURCES.filter((field) => credential[field])
  const other = others.find((field) => !(one === 'profile' && field === 'instanceMetadata'))
  return other && invalidField(other, `is a second source of keys: set ${one} or ${other}, not both`)
}

/** Returns the problem of the fields that say how a service is called. */
function serviceProblem(credential: S3Credential): ConfigurationError | undefined {
  const {
    credentialsUrl = '',
    method,
    body,
    bodyType,
    fields,
    releaseUrl,
    releaseMethod,
    roleSessionName = 'x-',
    durationSeconds = 1,
  } = credential
  if (bodyType !== undefined && !body) return invalidField('bodyType', 'requires body')
  if (body && method === 'GET') return invalidField('method', 'is GET: a call with a body cannot have the method GET')
  for (const [name, place] of fields ?? [])
    if (!isPlaceInAnswer(place)) return invalidField(`fields/${name}`, `is ${place}, which is not a JSON Pointer (RFC 6901)`)
  if (releaseMethod !== undefined && !releaseUrl) return invalidField('releaseMethod', 'requires releaseUrl')
  if (releaseUrl !== undefined && !ID_PLACE.test(releaseUrl))
    return invalidField('releaseUrl', 'must contain {accessKeyId}, the keys to delete')
  if (releaseUrl !== undefined && new URL(releaseUrl).origin !== new URL(credentialsUrl).origin)
    return invalidField('releaseUrl', 'must have the origin of credentialsUrl')
  if (!/^[\w+=,.@-]{2,64}$/.test(roleSessionName))
    return invalidField('roleSessionName', 'must be 2 to 64 of the characters A-Z a-z 0-9 _ + = , . @ -')
  if (!Number.isInteger(durationSeconds)) return invalidField('durationSeconds', 'must be a whole number')
  return undefined
}

/** Kinds of resources other than plain buckets, by their names and hosts. */
const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [/^arn:[\w-]*:s3-outposts|\.s3-outposts[.-]/, 'Outposts'],
  [/^arn:[\w-]*:s3-object-lambda|\.s3-object-lambda[.-]/, 'Object Lambda access points'],
  [/^arn:.*\.mrap\b|\.accesspoint\.s3-global\./, 'multi-region access points (Signature Version 4A)'],
  [/^arn:.*\baccesspoint\b|\.s3-accesspoint[.-]/, 'access points'],
  [/^arn:/, 'resource names (ARN)'],
  [/\.s3express-|--x-s3(\.|$)/, 'directory buckets'],
]

/** Returns why a URL, as written in the document, is unsupported for S3: `SCHEME_UNSUPPORTED`, `URL_INVALID`; else undefined. */
function addressProblem(href: string): UnsupportedError | undefined {
  const [, scheme = '', resource = ''] = /^(s3:\/\/|https?:\/\/)?(arn:.*|[^/?#]*)/is.exec(href) ?? []
  const named = UNSUPPORTED.find(([pattern]) => pattern.test(resource.toLowerCase()))?.[1]
  if (named && (scheme || resource.startsWith('arn:'))) {
    return new UnsupportedError('SCHEME_UNSUPPORTED', `S3 ${named} are not supported: use the URL of the bucket`, { url: href })
  }
  if (!/^s3:/i.test(href)) return undefined
  if (!/^s3:\/\/[\w.-]+([/?#]|$)/i.test(href))
    return new UnsupportedError('URL_INVALID', 'an s3 URL must have the form s3://bucket/key', { url: href })
  if (!/\/(\.|%2e){1,2}([/?#]|$)/i.test(href.slice(5))) return undefined
  return new UnsupportedError('URL_INVALID', 'a key with "." or ".." between slashes cannot be written in a URL', { url: href })
}
