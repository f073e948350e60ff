/** Scheme type `s3`: requests to an object store, signed with AWS Signature Version 4. */
import { platform } from '#platform'
import { type AuthFlow, type AuthStep, authorized, handshake, type ObjectKeys } from '../../auth/flow.ts'
import type { Preparation, Resource, Strategy } from '../../auth/strategy.ts'
import { type AuthError, ConfigurationError, CredentialError, SelectionError, TrustError, UnsupportedError } from '../../errors.ts'
import { endOfSpan } from '../../http/headers.ts'
import { type HttpRequest, type HttpResponse, hasQueryParameter, queryValues } from '../../http/message.ts'
import type { Clock } from '../../net/clock.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { serviceOf } from '../../stac/object-address.ts'
import type { S3Scheme } from '../../stac/scheme.ts'
import type { Target } from '../../stac/target.ts'
import { covers, placeFor, reaches, reachesPlace, type S3Credential, storagesFor, suits } from './access.ts'
import { locationOf, type Place, placeKey, placeOf, sameService } from './endpoint.ts'
import { keyState, keysAtHand, keysOf, renewKeys, type S3Context, type S3PeekContext } from './keys.ts'
import { answerOf, isStale, type Refusal, refusalOf, refusedBy, skewOf } from './refusal.ts'
import { presign, signHeaders, whenThere } from './sigv4.ts'

type Context = S3Context

type Known = S3PeekContext

/** A signature in a header is good for that long. */
const SIGNATURE_LIFE = 15 * 60_000

/** Signs for Amazon S3 and compatible stores. A wrong region, a wrong clock and ended keys are each corrected once. */
export const s3: Strategy<S3Scheme, S3Credential> = {
  type: 's3',
  forms: [
    {
      fields: {
        profile: { kind: 'text', label: 'Profile' },
        accessKeyId: { kind: 'secret', label: 'Access key id' },
        secretAccessKey: { kind: 'secret', label: 'Secret access key' },
        sessionToken: { kind: 'secret', label: 'Session token' },
        credentialsUrl: { kind: 'url', label: 'Service that gives temporary keys' },
        with: { kind: 'id', label: 'Entry that authorizes calls of that service' },
        instanceMetadata: { kind: 'boolean', label: 'Keys may come from the metadata service of this machine' },
        region: { kind: 'text', label: 'Region' },
        endpoint: { kind: 'url', label: 'Endpoint' },
        virtualHost: { kind: 'boolean', label: 'Bucket in the host name' },
        requesterPays: { kind: 'boolean', label: 'I pay for transfers where the owner does not' },
      },
    },
  ],
  identity: () => [[]],
  schemeOf: () => ({ type: 's3' }),
  refine,
  describe: (_scheme, resource) => ({
    entry: { type: 's3', ...statedService(resource) },
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
  endpoints: ({ credentialsUrl, keys, endpoint = keys?.endpoint }) => [credentialsUrl, endpoint].filter((url) => url !== undefined),
  prepare,
  peek,
  authorize,
  open: openLegs,
  tokenState: async (context) => keyState(context),
}

/** Keys come from one place: the entry, a service, or else a profile or the environment. */
function refine(credential: S3Credential): S3Credential {
  const problem = sourceProblem(credential)
  if (problem) throw new ConfigurationError('CONFIG_INVALID', problem.message, { pointer: `/${problem.field}` })
  return credential.accessKeyId || credential.credentialsUrl ? credential : { ...credential, keys: platform.s3Keys(credential) }
}

/** Endpoint and region as the document states them, for the user to look at before they become part of an entry. */
function statedService(resource: Resource | undefined): { endpoint?: string; region?: string } {
  const [storage] = resource?.target ? storagesFor(resource.target) : []
  const { endpoint, virtualHost } = storage ? serviceOf(storage) : {}
  return { ...(endpoint && !virtualHost && { endpoint }), ...(storage?.region && { region: storage.region }) }
}

/** Refuses what cannot be signed, and a place that the document proposes and nobody granted. */
function prepare({ credential, resource: { url, target } }: Preparation<S3Scheme, S3Credential>) {
  const problem = addressProblem(target?.href ?? url) ?? (isPresigned({ url }) ? undefined : parameterProblem(url))
  if (problem) throw problem
  const place = placeFor(credential, url, target)
  if (reachesPlace(credential, place)) return []
  const { id, sendTo } = credential
  throw new SelectionError(
    'CREDENTIAL_TARGET_UNTRUSTED',
    `the document places bucket "${place.bucket}" on ${place.endpoint}; "${id}" may be sent to ${sendTo.map(({ pattern }) => pattern).join(', ')}. Nothing was sent`,
    {
      ...(target && { pointer: `${target.pointer}/href` }),
      credential: id,
      actual: place.endpoint,
      hint: `if the bucket is there and you trust it, set "endpoint": "${place.endpoint}" in entry "${id}"`,
    },
  )
}

function peek(request: HttpRequest, context: Known): AuthStep | undefined {
  if (isPresigned(request)) return authorized(request, endOf(request.url))
  const keys = keysAtHand(context)
  if (!keys) return undefined
  const step = sign(request, keys, context, placeOfRequest(request, context, keys))
  return step instanceof Promise ? undefined : step
}

async function* authorize(request: HttpRequest, context: Context): AuthFlow {
  if (isPresigned(request)) {
    yield* sendPresigned(request, context.clock)
    return
  }
  const { credential, clock } = context
  const corrected = new Set<string>()
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
    const correction = await correct(refusal, keys, place, context)
    if (!correction || corrected.has(correction))
      throw refusedBy(refusal, credential.id, clock.now(), payHint(refusal, place, credential, context.resource.target))
    corrected.add(correction)
  }
}

/** Learns from a refusal what makes the next request differ; undefined when there is nothing to learn. */
async function correct(refusal: Refusal, keys: S3Keys, place: Place, context: Context): Promise<'region' | 'clock' | 'keys' | undefined> {
  const { clock } = context
  if (refusal.region && refusal.region !== place.region) {
    await remember(context, regionKey(place), refusal.region)
    return 'region'
  }
  const skew = skewOf(refusal, clock.now())
  if (skew !== undefined) {
    await remember(context, skewKey(place), skew)
    return 'clock'
  }
  return isStale(refusal) && (await renewKeys(keys, context)) ? 'keys' : undefined
}

function sign(
  request: HttpRequest,
  keys: S3Keys,
  { credential, session, clock, resource }: Known,
  place: Place,
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
        hint: `add that address to the sendTo of entry "${id}"`,
      },
    )
  }
  const now = clock.now() + (session.get<number>(skewKey(place))?.value ?? 0)
  const options = { region: place.region, now, requesterPays }
  const { presign: expiresIn, keys: wanted } = resource
  if (expiresIn !== undefined) {
    const expiresAt = Math.min(clock.now() + expiresIn * 1000, keys.expiration ?? Infinity)
    return whenThere(presign({ ...request, url: place.url }, keys, { ...options, expiresIn }), (request) => authorized(request, expiresAt))
  }
  const signed = signHeaders({ ...request, url: place.url }, keys, options)
  const expiresAt = Math.min(clock.now() + SIGNATURE_LIFE, keys.expiration ?? Infinity)
  const location = locationOf(place, requesterPays)
  const step = (request: HttpRequest): AuthStep => ({
    kind: 'authorized',
    request,
    expiresAt,
    location,
    ...(wanted && { keys: objectKeys(keys) }),
  })
  return whenThere(signed, step)
}

/** Without what belongs to their source: region, expiration. */
function objectKeys({ accessKeyId, secretAccessKey, sessionToken }: S3Keys): ObjectKeys {
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}

function placeOfRequest({ url }: HttpRequest, { credential, resource, session }: Known, keys: S3Keys): Place {
  return placeFor(credential, url, resource.target, keys, (address) => session.get<string>(regionKey(address))?.value)
}

async function remember({ session }: Context, key: string, value: unknown): Promise<void> {
  session.invalidate(key, session.get(key)?.value)
  await session.resolve(key, async () => ({ value }))
}

const regionKey = (place: Parameters<typeof placeKey>[0]) => `region ${placeKey(place)}`

const skewKey = ({ url }: Place) => `skew ${new URL(url).origin}`

/**
 * The request at the place that the entry covering it names, else the document, else the environment, else Amazon; once more in
 * the region that Amazon names. Nothing of the user's goes along, so the document is free to say where.
 */
async function* openLegs(request: HttpRequest, { url, target }: Resource, credential: Partial<S3Credential> = {}): AuthFlow {
  const problem = addressProblem(target?.href ?? url)
  if (problem) throw problem
  const environment = platform.s3Keys({})
  const placeIn = (region?: string) =>
    placeOf(url, { credential, environment, storages: storagesFor(target), learned: () => region, trusts: () => true })
  const place = placeIn()
  const response = yield { ...authorized({ ...request, url: place.url }), location: locationOf(place) }
  const region = regionIn(response)
  if (region === undefined || region === place.region) return
  const other = placeIn(region)
  if (other.url !== place.url) yield { ...authorized({ ...request, url: other.url }), location: locationOf(other) }
}

/** The region of an answer that is about nothing else: a redirect without an address, or a refusal of this host. */
function regionIn({ status, headers }: HttpResponse): string | undefined {
  const elsewhere = (status === 301 && headers.get('location') === null) || status === 400
  return elsewhere ? (headers.get('x-amz-bucket-region') ?? undefined) : undefined
}

/** True for an address of the web with a signature of version 4 in its query; `s3:` names no host that one could be for. */
function isPresigned({ url }: Pick<HttpRequest, 'url'>): boolean {
  return url.startsWith('http') && hasQueryParameter(url, 'X-Amz-Signature')
}

/** When a presigned address ends by what it says itself, in epoch milliseconds; undefined when it does not say so. */
function endOf(url: string): number | undefined {
  return endOfSpan(queryValues(url, 'X-Amz-Date')[0], queryValues(url, 'X-Amz-Expires')[0])
}

/** Sends it as it is. Errors: `AUTH_REJECTED` when the service refuses it, which says nothing about the user's keys. */
async function* sendPresigned(request: HttpRequest, clock: Clock): AuthFlow {
  const end = endOf(request.url)
  const response = yield authorized(request, end)
  if (response.status !== 403) return
  const refusal = await refusalOf(response, '')
  if (refusal) throw ended(refusal, end, clock.now())
}

function ended(refusal: Refusal, end: number | undefined, now: number): AuthError {
  const { url, status } = refusal
  const why = end !== undefined && end <= now ? `the address was signed beforehand and ended at ${new Date(end).toISOString()}` : ''
  return new CredentialError('AUTH_REJECTED', `${new URL(url).host} refused an address that is signed already: ${answerOf(refusal)}`, {
    url,
    status,
    hint: `${why || 'its signature is not accepted'}: obtain a new one, or the address without signature, from where it came from`,
  })
}

/**
 * What rules the query of an address out for a signature: `URL_INVALID`; else undefined. Parameters named `x-amz-…` are part of
 * a signature (AWS, "Authenticating requests: using query parameters") and say who pays and how long it lasts, which is for
 * the user alone to say.
 */
function parameterProblem(url: string): UnsupportedError | undefined {
  const start = url.indexOf('?')
  if (start < 0) return undefined
  const name = [...new URLSearchParams(url.slice(start + 1)).keys()].find((name) => /^x-amz-/i.test(name))?.toLowerCase()
  if (name === undefined) return undefined
  return new UnsupportedError('URL_INVALID', `this address cannot be signed: its query has parameters that are part of a signature`, {
    url,
    hint: HINTS[name] ?? 'use the address without the parameters that begin with x-amz-',
  })
}

const HINTS: { readonly [name: string]: string } = {
  'x-amz-request-payer': 'who pays is said by "requesterPays" of the entry: use the address without that parameter',
  'x-amz-signature': 'use the https address for which it was signed',
}

/**
 * What to do where the document says that readers pay and access was denied; undefined when that is not why. Of two places of
 * a file one may be free: what is said about the service that refused counts, if anything is.
 */
function payHint(
  { code = 'AccessDenied' }: Refusal,
  { endpoint }: Place,
  credential: S3Credential,
  target: Target | undefined,
): string | undefined {
  if (code !== 'AccessDenied' || credential.requesterPays) return undefined
  const storages = storagesFor(target)
  const here = storages.filter((storage) => sameService(serviceOf(storage, credential).endpoint ?? '', endpoint))
  if (!(here.length > 0 ? here : storages).some(({ requesterPays }) => requesterPays)) return undefined
  return `the readers of this bucket pay: set "requesterPays": true in entry "${credential.id}" if you agree to`
}

/** Where keys may come from, by the field that says so. */
const SOURCES = ['accessKeyId', 'credentialsUrl', 'profile', 'instanceMetadata'] as const

/** What is wrong with the fields of an entry that say where its keys come from, and the field where it shows. */
function sourceProblem(credential: S3Credential): { readonly field: string; readonly message: string } | undefined {
  const { accessKeyId, secretAccessKey, sessionToken, credentialsUrl } = credential
  if (!accessKeyId !== !secretAccessKey || (sessionToken && !accessKeyId)) {
    return { field: 'secretAccessKey', message: 'accessKeyId and secretAccessKey belong together' }
  }
  if (credential.with !== undefined && !credentialsUrl)
    return { field: 'with', message: 'with needs credentialsUrl, the service to be asked' }
  const [one, ...others] = SOURCES.filter((field) => credential[field])
  const other = others.find((field) => !(one === 'profile' && field === 'instanceMetadata'))
  return other && { field: other, message: `keys come from one place: ${one} or ${other}, not both` }
}

/** Kinds of resources that are not plain buckets, by their names and hosts. */
const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [/^arn:[\w-]*:s3-outposts|\.s3-outposts[.-]/, 'Outposts'],
  [/^arn:[\w-]*:s3-object-lambda|\.s3-object-lambda[.-]/, 'Object Lambda access points'],
  [/^arn:.*\.mrap\b|\.accesspoint\.s3-global\./, 'multi-region access points (Signature Version 4A)'],
  [/^arn:.*\baccesspoint\b|\.s3-accesspoint[.-]/, 'access points'],
  [/^arn:/, 'resource names (ARN)'],
  [/\.s3express-|--x-s3(\.|$)/, 'directory buckets'],
]

/** What rules an address out for S3, as the document writes it: `SCHEME_UNSUPPORTED`, `URL_INVALID`; else undefined. */
export function addressProblem(href: string): UnsupportedError | undefined {
  const [, scheme = '', resource = ''] = /^(s3:\/\/|https?:\/\/)?(arn:.*|[^/?#]*)/is.exec(href) ?? []
  const named = UNSUPPORTED.find(([pattern]) => pattern.test(resource.toLowerCase()))?.[1]
  if (named && (scheme || resource.startsWith('arn:'))) {
    return new UnsupportedError('SCHEME_UNSUPPORTED', `S3 ${named} are not supported: use the address of the bucket`, { url: href })
  }
  if (!/^s3:/i.test(href)) return undefined
  if (!/^s3:\/\/[\w.-]+([/?#]|$)/i.test(href)) return new UnsupportedError('URL_INVALID', 'an s3 address is s3://bucket/key', { url: href })
  if (!/\/(\.|%2e){1,2}([/?#]|$)/i.test(href.slice(5))) return undefined
  return new UnsupportedError('URL_INVALID', 'a key with "." or ".." between slashes cannot travel in a URL', { url: href })
}
