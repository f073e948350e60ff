/** Scheme type `s3`: requests to an object store, signed with AWS Signature Version 4. */
import { platform } from '#platform'
import { type AuthFlow, authorized, handshake, type Leg, type ObjectKeys } from '../auth/flow.ts'
import type { Preparation, Resource, Strategy } from '../auth/strategy.ts'
import { ConfigurationError, SelectionError, TrustError } from '../errors.ts'
import type { HttpRequest } from '../http/message.ts'
import type { S3Keys } from '../platform/platform.ts'
import { serviceOf } from '../stac/object-address.ts'
import type { S3Scheme } from '../stac/scheme.ts'
import { covers, placeFor, reaches, reachesPlace, type S3Credential, storagesFor, suits } from './s3/access.ts'
import { addressProblem } from './s3/address-problem.ts'
import { locationOf, type Place, placeKey } from './s3/endpoint.ts'
import { sourceProblem } from './s3/key-sources.ts'
import { keyState, keysAtHand, keysOf, renewKeys, type S3Context, type S3PeekContext } from './s3/keys.ts'
import { openLegs } from './s3/open.ts'
import { parameterProblem } from './s3/parameter-problem.ts'
import { payHint } from './s3/pay-hint.ts'
import { endOf, isPresigned, sendPresigned } from './s3/presigned.ts'
import { isStale, type Refusal, refusalOf, refusedBy, skewOf } from './s3/refusal.ts'
import { presign, signHeaders, whenThere } from './s3/sigv4.ts'

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
function refine(entry: S3Credential): S3Credential {
  const problem = sourceProblem(entry)
  if (problem) throw new ConfigurationError('CONFIG_INVALID', problem.message, { pointer: `/${problem.field}` })
  return entry.accessKeyId || entry.credentialsUrl ? entry : { ...entry, keys: platform.s3Keys(entry) }
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

function peek(request: HttpRequest, context: Known): Leg | undefined {
  if (isPresigned(request)) return authorized(request, endOf(request.url))
  const keys = keysAtHand(context)
  if (!keys) return undefined
  const leg = sign(request, keys, context, placeOf(request, context, keys))
  return leg instanceof Promise ? undefined : leg
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
    const place = placeOf(request, context, keys)
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

function sign(request: HttpRequest, keys: S3Keys, { credential, session, clock, resource }: Known, place: Place): Leg | Promise<Leg> {
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
  const leg = (request: HttpRequest): Leg => ({
    kind: 'authorized',
    request,
    expiresAt,
    location,
    ...(wanted && { keys: objectKeys(keys) }),
  })
  return whenThere(signed, leg)
}

/** Without what belongs to their source: region, expiration. */
function objectKeys({ accessKeyId, secretAccessKey, sessionToken }: S3Keys): ObjectKeys {
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}

function placeOf({ url }: HttpRequest, { credential, resource, session }: Known, keys: S3Keys): Place {
  return placeFor(credential, url, resource.target, keys, (address) => session.get<string>(regionKey(address))?.value)
}

async function remember({ session }: Context, key: string, value: unknown): Promise<void> {
  session.invalidate(key, session.get(key)?.value)
  await session.resolve(key, async () => ({ value }))
}

const regionKey = (place: Parameters<typeof placeKey>[0]) => `region ${placeKey(place)}`

const skewKey = ({ url }: Place) => `skew ${new URL(url).origin}`
