/** Strategy `signedUrl`: a signing API chosen by the user turns a URL into a signed one. */

import { platform } from '#platform'
import type { Credential, Secret } from '../../auth/credential.ts'
import type { CacheEntry } from '../../auth/session.ts'
import {
  type AuthContext,
  type AuthFlow,
  type AuthStep,
  authorized,
  type IdentityMember,
  type PeekContext,
  type Preparation,
  type Resource,
  type Strategy,
} from '../../auth/strategy.ts'
import { matchesAny, namedOrigin, pathProblem, type UrlPattern } from '../../auth/url-pattern.ts'
import { type AuthError, SelectionError, UnsupportedError } from '../../errors.ts'
import { harmlessHeaders } from '../../http/headers.ts'
import { type HttpRequest, type HttpResponse, withHeader, withQueryParameter, withUrl } from '../../http/message.ts'
import { addressOf, isAddressProblem } from '../../http/url.ts'
import { errorDocument, wordIn } from '../../http/xml-text.ts'
import { isObject, own, ownString, pointer } from '../../stac/document.ts'
import type { SignedUrlFlow, SignedUrlScheme } from '../../stac/scheme.ts'
import { hrefIn } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import {
  type Answers,
  askedParameters,
  type BoundParameter,
  bindParameters,
  callIdentity,
  checkParameters,
  ownParameters,
  type ParameterFunction,
  parametersProblem,
  placeholdersOf,
} from './parameters.ts'
import { filledApi, type SigningTarget } from './placeholders.ts'
import { SigningRateLimiter } from './rate-limit.ts'
import { coverOf, endingWith, foundIn, type Keys, knownFor, obtainFor, type SignatureMatch, type Signed } from './reuse.ts'
import { type AnswerKind, cookieHeader, readSignedAnswer } from './signed-answer.ts'

type Context = AuthContext<SignedUrlScheme, SignedUrlCredential>

type SignedUrlPeekContext = PeekContext<SignedUrlScheme, SignedUrlCredential>

const NO_ANSWERS: Answers = new Map()

/** Milliseconds in which a folder is not signed again because one URL below it was refused. */
const FRESH = 60_000

/**
 * Calls the signing API of the credential, at most once per URL while the signature is valid, or once per container when the signature
 * is valid for it; a refused URL is signed again once, also one that is refused with 400 and a code of expiry.
 */
export const signedUrl: Strategy<SignedUrlScheme, SignedUrlCredential> = {
  type: 'signedUrl',
  forms: [
    {
      fields: {
        authorizationApi: {
          kind: 'url',
          label: 'URL of the signing API; its path may have {account} {container} {bucket} {item} {collection} {asset}',
          required: true,
        },
        method: { kind: 'text', label: 'HTTP method of the signing call', required: true, values: ['GET', 'POST'] },
        signedUrlHosts: { kind: 'signed-url-patterns', label: 'Allowed hosts of signed URLs', required: true },
        with: { kind: 'id', label: 'Credential that authorizes the signing call' },
        parameters: {
          kind: 'parameters',
          label:
            'Values of parameters; {url} {bucket} {key} {account} {container} {blob} {path} are taken from the URL, {item} {collection} {asset} from the document',
        },
        headers: { kind: 'parameters', label: 'Parameters that every signing call sends as headers' },
        query: { kind: 'parameters', label: 'Parameters that every signing call sends in the query' },
        body: { kind: 'parameters', label: 'Parameters that every signing call sends in the body, for POST' },
        answer: {
          kind: 'text',
          label: 'What the API returns: a signed URL (default), a query to add to the URL, or CloudFront cookies',
          values: ['url', 'query', 'cookies'],
        },
        endpoint: { kind: 'url', label: 'Service whose URLs contain bucket and key; built in: S3, Google, Azure' },
        virtualHost: { kind: 'boolean', label: 'Bucket in the host name, with endpoint' },
        parameter: { kind: 'function', label: 'In code only: function that returns the value of a parameter' },
        responseField: { kind: 'text', label: 'Member of the response that holds the signed URL, query or cookies' },
        reuse: {
          kind: 'text',
          label: 'Reuse of a signature: the container that it is valid for (default), or one URL',
          values: ['container', 'address'],
        },
        signingRate: { kind: 'number', label: 'Maximum signing calls per second; default: learnt from the responses' },
        sendTo: { kind: 'patterns', label: 'URLs that may be signed; default: signedUrlHosts', required: false },
      },
    },
  ],
  problem: flowsProblem,
  identity: ({ flows }) => Object.entries(flows).map(([name, flow]) => flowIdentity(name, flow)),
  schemeOf: (credential) => {
    const { authorizationApi, method, responseField } = credential
    return { type: 'signedUrl', flows: { signedUrl: { method, authorizationApi, responseField, parameters: ownParameters(credential) } } }
  },
  refine,
  describe({ flows }) {
    const [flow] = Object.values(flows)
    const known = { type: 'signedUrl', authorizationApi: flow?.authorizationApi ?? '…', method: methodOf(flow) }
    return { credential: known, fields: signedUrl.forms[0]?.fields ?? {}, carriedIn: 'url' }
  },
  endpoints: (credential, resource) => [resource ? apiFor(credential, resource) : credential.authorizationApi],
  reaches: ({ signedUrlHosts }, url) => matchesAny(signedUrlHosts, new URL(url)),
  prepare,
  peek,
  authorize,
}

function refine(credential: SignedUrlCredential): SignedUrlCredential {
  const problem = parametersProblem(credential)
  if (problem) throw problem
  return credential.sendTo.length ? credential : { ...credential, sendTo: credential.signedUrlHosts }
}

function prepare({ scheme, pointer: at, credential, resource }: Preparation<SignedUrlScheme, SignedUrlCredential>) {
  const [name, flow] = flowFor(scheme, credential)
  checkAnswer(credential, resource)
  return checkParameters(flow, pointer(at, 'flows', name), credential, toBeSigned(resource))
}

/** Checks that a signature without a URL may be sent to this one. Errors: `UNSUPPORTED_IN_BROWSER`, `SIGNED_URL_FORBIDDEN`. */
function checkAnswer({ id, answer = 'url', signedUrlHosts }: SignedUrlCredential, { url }: Pick<Resource, 'url'>): void {
  if (answer === 'url') return
  if (answer === 'cookies' && platform.hidesHeaders) {
    throw new UnsupportedError('UNSUPPORTED_IN_BROWSER', `"${id}" sends cookies, which web pages cannot set`, {
      credential: id,
      hint: 'use the command line, or a program outside the browser',
    })
  }
  if (matchesAny(signedUrlHosts, new URL(url))) return
  const { origin } = new URL(url)
  throw new SelectionError(
    'SIGNED_URL_FORBIDDEN',
    `the ${answer} of "${id}" cannot be sent to ${origin}: signedUrlHosts does not include the URL`,
    {
      credential: id,
      url,
      hint: `if you trust that host, add "${origin}/" to signedUrlHosts of "${id}"`,
    },
  )
}

function peek(request: HttpRequest, context: SignedUrlPeekContext): AuthStep | undefined {
  // A function is called once per request, so `peek` must not call it.
  if (context.credential.parameter) return undefined
  const found = knownFor(request.url, keysOf(context), context.session)
  return found && step(request, found, context)
}

async function* authorize(request: HttpRequest, context: Context): AuthFlow {
  const { session, credential, resource, clock, scheme } = context
  const [, flow] = flowFor(scheme, credential)
  const answers = await askedParameters(flow, credential, toBeSigned(resource))
  const keys = keysOf(context, answers)
  const obtain = (signal: AbortSignal) => sign(context, answers, keys.own, signal)
  const first = opening(await obtainFor(request.url, keys, session, obtain), context)
  const response = yield step(request, first, context)
  if (response.status === 400) {
    if (!(await hasEnded(response, request.method))) {
      // The response was read to find its code: the caller gets its own.
      yield step(request, first, context)
      return
    }
  } else if (response.status !== 401 && response.status !== 403) return
  const { asked, since, query } = first.entry.value
  // One of many URLs may be forbidden or missing while the signature is valid.
  const isShared = asked !== request.url
  const isForMany = query !== undefined || rootOf(resource) !== undefined
  if (isShared && response.status !== 400 && isForMany && clock.now() - since < FRESH) return
  if (!isShared || first.key === keys.own) session.invalidate(first.key, first.entry.value)
  const second = opening(foundIn(keys.own, await session.resolve(keys.own, obtain), request.url, keys), context)
  if (second.address === first.address) return
  const again = yield step(request, second, context)
  if (isShared && again.status < 400) session.invalidate(first.key, first.entry.value)
}

/**
 * Codes with which stores refuse an expired signature, or one by keys that have ended, with 400 (Google Cloud Storage, "HTTP status and
 * error codes for XML API"; Amazon S3, "Error responses"). Azure Storage answers 403, and Amazon when only the signature expired.
 */
const ENDED = new Set(['ExpiredToken', 'RequestExpired', 'TokenRefreshRequired', 'InvalidToken', 'AuthenticationFailed'])

/** True when a 400 concerns the signature; that of a HEAD request has no code and may do so. */
async function hasEnded(response: HttpResponse, method: string): Promise<boolean> {
  const code = wordIn(await errorDocument(response), 'Code')
  return code === undefined ? method === 'HEAD' : ENDED.has(code)
}

/** Checks that the asset's signature is valid for a URL below it. Errors: `SCHEME_UNSUPPORTED`, `QUERY_NAME_CONFLICT`. */
function opening(
  found: SignatureMatch | undefined,
  { credential: { id, reuse, answer = 'url' }, resource: { url } }: Context,
): SignatureMatch {
  if (found) return found
  if (answer !== 'url' && reuse !== 'address') {
    const message = `the URL has a parameter of the signature from "${id}" already`
    throw new SelectionError('QUERY_NAME_CONFLICT', message, { credential: id, url })
  }
  const why =
    reuse === 'address' ? '"reuse" of the credential allows only one URL per signature' : 'its signature is not valid for the folder'
  throw new UnsupportedError('SCHEME_UNSUPPORTED', `"${id}" signs single files, and this URL is below the asset: ${why}`, {
    credential: id,
    url,
    hint:
      reuse === 'address'
        ? 'remove "reuse": "address"'
        : 'ask the provider for signatures of containers or folders, or list each file as an asset',
  })
}

/** Returns the step with the signed URL, or with cookies; at another origin nothing else of the caller's request is sent. */
function step(
  request: HttpRequest,
  { address, entry: { value, expiresAt } }: SignatureMatch,
  { credential }: Pick<SignedUrlPeekContext, 'credential'>,
): AuthStep {
  if (credential.answer === 'cookies') {
    const cookies = [request.headers.cookie ?? [], cookieHeader(value.query ?? '')].flat().join('; ')
    return authorized(withHeader(request, 'cookie', cookies), expiresAt)
  }
  const sameOrigin = new URL(address).origin === new URL(request.url).origin
  const { method, headers } = request
  if (!sameOrigin && request.body !== undefined) {
    throw new UnsupportedError('SCHEME_UNSUPPORTED', 'a request with a body cannot be sent to a signed URL on another origin', {
      url: request.url,
    })
  }
  const signed = sameOrigin ? withUrl(request, address) : { method, url: address, headers: harmlessHeaders(headers) }
  return { ...authorized(signed, expiresAt), replaces: true }
}

async function sign(context: Context, answers: Answers, call: string, signal: AbortSignal): Promise<CacheEntry<Signed>> {
  const { credential, clock, scheme } = context
  const resource = toBeSigned(context.resource)
  const [, flow] = flowFor(scheme, credential)
  const parameters = await bindParameters(flow, credential, answers, resource)
  const request = signingRequest(filledApi(credential, resource), credential.method, parameters)
  const send = context.input?.send ?? context.send
  const limiter = await limiterOf(context)
  const response = await limiter.run(() => send(request, { signal }), signal)
  const now = clock.now()
  const asked = usesPath(credential) ? context.resource.url : resource.url
  const { value, ...life } = await readSignedAnswer(response, {
    credential: credential.id,
    answer: credential.answer ?? 'url',
    asked,
    responseField: credential.responseField ?? ownString(flow, 'responseField'),
    addressOf: (text) => signedAddress(text, credential),
    now,
  })
  const cover = credential.reuse === 'address' ? undefined : coverOf(value.address, asked)
  const entry = { value: { ...value, asked, call, cover, since: now }, ...life }
  return cover ? entry : endingWith(entry, resource.target?.object, now)
}

/** Returns the rate limiter that all calls of a credential share. */
async function limiterOf({ session, clock, credential }: Context): Promise<SigningRateLimiter> {
  const { value } = await session.resolve<SigningRateLimiter>('rate limit', async () => ({
    value: new SigningRateLimiter(clock, credential.signingRate),
  }))
  return value
}

/** Returns the resource to sign: below an asset, the asset, and the rest of the path, if every server reads it alike. */
function toBeSigned(resource: Resource): SigningTarget {
  const root = rootOf(resource)
  if (root === undefined) return resource
  const below = new URL(resource.url).pathname.slice(new URL(root).pathname.replace(/\/?$/, '/').length)
  return { ...resource, url: root, ...(pathProblem(below) === undefined && { below: decodeURIComponent(below) }) }
}

/** True when each URL below an asset is signed by a call of its own. */
function usesPath(credential: SignedUrlCredential): boolean {
  return placeholdersOf(credential).includes('path')
}

/** Returns the URL of the API for a target; unchanged when it has no value for a placeholder, which is reported when it is called. */
function apiFor(credential: SignedUrlCredential, resource: Resource): string {
  try {
    return filledApi(credential, toBeSigned(resource))
  } catch {
    return credential.authorizationApi
  }
}

/** Returns the signed URL if it is public, https (loopback and http only where the user named them) and within `signedUrlHosts`; without fragment. */
function signedAddress(text: string, { signedUrlHosts }: SignedUrlCredential): string | undefined {
  const named = new Set(signedUrlHosts.map(namedOrigin).filter((origin) => origin !== undefined))
  const url = addressOf(text, { secure: true, named })
  if (isAddressProblem(url) || url.protocol === 's3:' || !matchesAny(signedUrlHosts, url)) return undefined
  url.hash = ''
  return url.href
}

function keysOf({ resource, scheme, credential }: SignedUrlPeekContext, answers: Answers = NO_ANSWERS): Keys {
  const [name, flow] = flowFor(scheme, credential)
  const wanted = toBeSigned(resource)
  const field = ownString(flow, 'responseField')
  const allows = (address: string) => matchesAny(credential.signedUrlHosts, new URL(address))
  // A signature without a URL is for every URL of the origin that the API is told the same about.
  const isForUrl = (credential.answer ?? 'url') === 'url' || credential.reuse === 'address'
  const { url } = isForUrl ? wanted : { url: new URL(wanted.url).origin }
  const cacheKey = JSON.stringify(['signed', url, name, field, callIdentity(flow, credential, answers, wanted)])
  if (credential.reuse === 'address') return { own: cacheKey, allows }
  return { own: cacheKey, shared: JSON.stringify(['signed below', name, field, callIdentity(flow, credential, answers)]), allows }
}

/** A credential of type `signedUrl` after reading. */
export type SignedUrlCredential = Credential & {
  readonly authorizationApi: string
  readonly method: 'GET' | 'POST'
  readonly signedUrlHosts: readonly UrlPattern[]
  readonly with?: string
  /** May contain placeholders for parts of the URL to sign. */
  readonly parameters?: ReadonlyMap<string, Secret>
  /** Parameters that are sent there in every call, whatever the document says. */
  readonly headers?: ReadonlyMap<string, Secret>
  readonly query?: ReadonlyMap<string, Secret>
  readonly body?: ReadonlyMap<string, Secret>
  /** What the response holds; default: `url`. */
  readonly answer?: AnswerKind
  /** The service whose URLs contain bucket and key, when its host is not built in. */
  readonly endpoint?: string
  readonly virtualHost?: boolean
  /** In code only. */
  readonly parameter?: ParameterFunction
  readonly responseField?: string
  /** How a signature is reused: for everything it is valid for (default), or for one URL. */
  readonly reuse?: 'container' | 'address'
  /** Maximum calls per second to the API. */
  readonly signingRate?: number
}

/** Returns the problem of a scheme's structure. Errors: `SCHEME_INVALID`, `FLOW_INVALID`. */
function flowsProblem(scheme: unknown, at: string): AuthError | undefined {
  const flows = own(scheme, 'flows')
  if (!isObject(flows) || Object.keys(flows).length === 0) {
    return new SelectionError('SCHEME_INVALID', 'a signedUrl scheme needs "flows", a map of signing calls', {
      pointer: flows === undefined ? at : `${at}/flows`,
    })
  }
  for (const [name, flow] of Object.entries(flows)) {
    const place = pointer(at, 'flows', name)
    if (!isObject(flow))
      return new SelectionError('FLOW_INVALID', `"${name}" is not a flow: flows is a map of names to signing calls`, { pointer: place })
    if (!/^(?:GET|POST)$/i.test(ownString(flow, 'method') ?? '')) {
      return new SelectionError('FLOW_INVALID', 'the method of a signing call must be GET or POST', {
        pointer: Object.hasOwn(flow, 'method') ? `${place}/method` : place,
      })
    }
    const api = own(flow, 'authorizationApi')
    if (api !== undefined && typeof api !== 'string')
      return new SelectionError('FLOW_INVALID', 'authorizationApi is not a string', { pointer: `${place}/authorizationApi` })
  }
  return undefined
}

/** Returns the tuple of one flow: its API, when it states one, and its method. */
function flowIdentity(name: string, flow: SignedUrlFlow): IdentityMember[] {
  const at = pointer('/flows', name)
  const method: IdentityMember = { name: 'method', value: methodOf(flow), pointer: `${at}/method` }
  if (flow.authorizationApi === undefined) return [method]
  return [{ name: 'authorizationApi', value: flow.authorizationApi, pointer: `${at}/authorizationApi`, url: 'relative' }, method]
}

/** Returns the flow that matches the credential; schemes may have several. */
function flowFor({ flows }: SignedUrlScheme, { method, authorizationApi }: SignedUrlCredential): [string, SignedUrlFlow] {
  const entries = Object.entries(flows)
  const fits = ([, flow]: [string, SignedUrlFlow]) =>
    methodOf(flow) === method && (flow.authorizationApi === undefined || sameUrl(flow.authorizationApi, authorizationApi))
  return entries.find(fits) ?? entries.find(([, flow]) => methodOf(flow) === method) ?? ['', { method }]
}

/** Returns the HTTP method of a signing call, in upper case. */
function methodOf(flow: SignedUrlFlow | undefined): 'GET' | 'POST' {
  return flow?.method?.toUpperCase() === 'POST' ? 'POST' : 'GET'
}

function sameUrl(one: string, other: string): boolean {
  return canParseUrl(one) && new URL(one).href === other
}

/**
 * Returns the URL of the asset itself, when the resource is below it: `fetchFor` replaces the URL of its target and keeps the
 * target's object. Undefined for the asset itself and for URLs elsewhere.
 */
function rootOf({ url, target }: Resource): string | undefined {
  const href = target && hrefIn(target.object)
  if (href === undefined || href === target?.href) return undefined
  const root = addressOf(href, { base: target?.scope.url, secure: false, named: new Set([new URL(url).origin]), objects: true })
  if (isAddressProblem(root)) return undefined
  const { protocol, host, pathname } = new URL(url)
  const folder = root.pathname.endsWith('/') ? root.pathname : `${root.pathname}/`
  const isBelow = protocol === root.protocol && host === root.host && pathname.startsWith(folder) && pathname !== folder
  if (!isBelow) return undefined
  root.hash = ''
  return root.href
}

/** Returns the call to a signing API: each parameter at its `in`, the body as a JSON object. */
function signingRequest(api: string, method: 'GET' | 'POST', parameters: readonly BoundParameter[]): HttpRequest {
  let url = api
  const headers: Record<string, string> = { accept: 'application/json' }
  const body: [string, BoundParameter['value']][] = []
  for (const { name, in: place, value } of parameters) {
    if (place === 'query') url = withQueryParameter(url, name, String(value))
    else if (place === 'header') headers[name.toLowerCase()] = String(value)
    else body.push([name, value])
  }
  if (method === 'GET') return { method, url, headers }
  return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(Object.fromEntries(body)) }
}
