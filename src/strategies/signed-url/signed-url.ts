/** Signed URLs: an API of the user's choice turns an address into one that opens by itself. */

import type { Credential } from '../../auth/credential.ts'
import { type AuthFlow, type AuthStep, authorized } from '../../auth/flow.ts'
import type { Secret } from '../../auth/secret.ts'
import type { CacheEntry } from '../../auth/session.ts'
import type { AuthContext, IdentityMember, PeekContext, Preparation, Resource, Strategy } from '../../auth/strategy.ts'
import { matchesAny, namedOrigin, type UrlPattern } from '../../auth/url-pattern.ts'
import { type AuthError, SelectionError, UnsupportedError } from '../../errors.ts'
import { type HttpRequest, withQueryParameter, withUrl } from '../../http/message.ts'
import { harmlessHeaders } from '../../http/redirect.ts'
import { addressOf, isAddressProblem } from '../../http/url.ts'
import { isObject, own, ownString, pointer } from '../../stac/json.ts'
import type { SignedUrlFlow, SignedUrlScheme } from '../../stac/scheme.ts'
import { Pace } from './pace.ts'
import {
  type Answers,
  askedParameters,
  type BoundParameter,
  bindParameters,
  callIdentity,
  checkParameters,
  ownParameters,
  type ParameterFunction,
  templateProblem,
} from './parameters.ts'
import { type Found, foundIn, type Keys, knownFor, obtainFor, type Signed } from './reuse.ts'
import { readSignedAnswer } from './signed-answer.ts'
import { coverOf, endingWith } from './signed-policy.ts'

type Context = AuthContext<SignedUrlScheme, SignedUrlCredential>

type Known = PeekContext<SignedUrlScheme, SignedUrlCredential>

const NO_ANSWERS: Answers = new Map()

/** Milliseconds in which the signature of a folder is not asked for again because one address below it was refused. */
const FRESH = 60_000

/**
 * Asks the signing API of the entry, at most once per address while the answer lasts, or once per container where the signature
 * covers it; a refused address is signed again once.
 */
export const signedUrl: Strategy<SignedUrlScheme, SignedUrlCredential> = {
  type: 'signedUrl',
  forms: [
    {
      fields: {
        authorizationApi: { kind: 'url', label: 'Address of the signing API', required: true },
        method: { kind: 'text', label: 'HTTP method of the signing call', required: true, values: ['GET', 'POST'] },
        signedUrlHosts: { kind: 'signed-url-patterns', label: 'Where signed addresses may point', required: true },
        with: { kind: 'id', label: 'Entry that authorizes the signing call' },
        parameters: { kind: 'parameters', label: 'Values of parameters; {url} {bucket} {key} {account} {container} {blob} are of the URL' },
        endpoint: { kind: 'url', label: 'Service whose URLs have bucket and key; known: S3, Google, Azure' },
        virtualHost: { kind: 'boolean', label: 'Bucket in the host name, with endpoint' },
        parameter: { kind: 'function', label: 'In code only: function that gives the value of a parameter' },
        responseField: { kind: 'text', label: 'Member of the answer that holds the signed address' },
        reuse: {
          kind: 'text',
          label: 'What one signature serves: the container that it covers (default), or one address',
          values: ['container', 'address'],
        },
        signingRate: { kind: 'number', label: 'Signing calls per second at most; default: learned from the answers' },
        sendTo: { kind: 'patterns', label: 'Addresses that may be signed; default: signedUrlHosts', required: false },
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
    const entry = { type: 'signedUrl', authorizationApi: flow?.authorizationApi ?? '…', method: methodOf(flow) }
    return { entry, fields: signedUrl.forms[0]?.fields ?? {}, carriedIn: 'address' }
  },
  endpoints: ({ authorizationApi }) => [authorizationApi],
  reaches: ({ signedUrlHosts }, url) => matchesAny(signedUrlHosts, new URL(url)),
  prepare,
  peek,
  authorize,
}

function refine(credential: SignedUrlCredential): SignedUrlCredential {
  const problem = templateProblem(credential)
  if (problem) throw problem
  return credential.sendTo.length ? credential : { ...credential, sendTo: credential.signedUrlHosts }
}

function prepare({ scheme, pointer: at, credential, resource }: Preparation<SignedUrlScheme, SignedUrlCredential>) {
  const [name, flow] = flowFor(scheme, credential)
  return checkParameters(flow, pointer(at, 'flows', name), credential, toBeSigned(resource))
}

function peek(request: HttpRequest, context: Known): AuthStep | undefined {
  // A function is asked once per request, so not for a look ahead.
  if (context.credential.parameter) return undefined
  const found = knownFor(request.url, keysOf(context), context.session)
  return found && step(request, found)
}

async function* authorize(request: HttpRequest, context: Context): AuthFlow {
  const { session, credential, resource, clock, scheme } = context
  const [, flow] = flowFor(scheme, credential)
  const answers = await askedParameters(flow, credential, toBeSigned(resource))
  const keys = keysOf(context, answers)
  const obtain = (signal: AbortSignal) => sign(context, answers, keys.own, signal)
  const first = opening(await obtainFor(request.url, keys, session, obtain), context)
  const response = yield step(request, first)
  if (response.status !== 401 && response.status !== 403) return
  const { asked, since } = first.entry.value
  // One address below a folder may be forbidden, or missing, while the signature is good.
  const isShared = asked !== request.url
  if (isShared && rootOf(resource) !== undefined && clock.now() - since < FRESH) return
  if (!isShared || first.key === keys.own) session.invalidate(first.key, first.entry.value)
  const second = opening(foundIn(keys.own, await session.resolve(keys.own, obtain), request.url, keys), context)
  if (second.address === first.address) return
  const again = yield step(request, second)
  if (isShared && again.status < 400) session.invalidate(first.key, first.entry.value)
}

/** For what lies below an asset, its own signature must open it. Errors: `SCHEME_UNSUPPORTED`. */
function opening(found: Found | undefined, { credential: { id, reuse }, resource: { url } }: Context): Found {
  if (found) return found
  const why = reuse === 'address' ? '"reuse" of the entry allows no other use' : 'its signature does not cover the folder'
  throw new UnsupportedError('SCHEME_UNSUPPORTED', `"${id}" signs single files, and this one lies below the asset: ${why}`, {
    credential: id,
    url,
    hint:
      reuse === 'address'
        ? 'leave out "reuse": "address"'
        : 'ask the provider for signatures of containers or folders, or list each file as an asset',
  })
}

/** The signed address opens by itself: on another origin nothing else of the caller's goes along. */
function step(request: HttpRequest, { address, entry: { expiresAt } }: Found): AuthStep {
  const sameOrigin = new URL(address).origin === new URL(request.url).origin
  const { method, headers } = request
  if (!sameOrigin && request.body !== undefined) {
    throw new UnsupportedError('SCHEME_UNSUPPORTED', 'a request with a body cannot follow a signed address to another origin', {
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
  const request = signingRequest(credential, await bindParameters(flow, credential, answers, resource))
  const send = context.input?.send ?? context.send
  const pace = await paceOf(context)
  const response = await pace.run(() => send(request, { signal }), signal)
  const now = clock.now()
  const { value: address, ...life } = await readSignedAnswer(response, {
    credential: credential.id,
    responseField: credential.responseField ?? ownString(flow, 'responseField'),
    addressOf: (text) => signedAddress(text, credential),
    now,
  })
  const cover = credential.reuse === 'address' ? undefined : coverOf(address, resource.url)
  const entry = { value: { asked: resource.url, call, address, cover, since: now }, ...life }
  return cover ? entry : endingWith(entry, resource.target?.object, now)
}

/** All calls of an entry go at one pace. */
async function paceOf({ session, clock, credential }: Context): Promise<Pace> {
  const { value } = await session.resolve<Pace>('pace', async () => ({ value: new Pace(clock, credential.signingRate) }))
  return value
}

/** Below an asset it is the asset that is signed. */
function toBeSigned(resource: Resource): Resource {
  const root = rootOf(resource)
  return root === undefined ? resource : { ...resource, url: root }
}

/** Public, https (loopback and http only where the user named them), within `signedUrlHosts`; without fragment. */
function signedAddress(text: string, { signedUrlHosts }: SignedUrlCredential): string | undefined {
  const named = new Set(signedUrlHosts.map(namedOrigin).filter((origin) => origin !== undefined))
  const url = addressOf(text, { secure: true, named })
  if (isAddressProblem(url) || url.protocol === 's3:' || !matchesAny(signedUrlHosts, url)) return undefined
  url.hash = ''
  return url.href
}

function keysOf({ resource, scheme, credential }: Known, answers: Answers = NO_ANSWERS): Keys {
  const [name, flow] = flowFor(scheme, credential)
  const wanted = toBeSigned(resource)
  const field = ownString(flow, 'responseField')
  const allows = (address: string) => matchesAny(credential.signedUrlHosts, new URL(address))
  const own = JSON.stringify(['signed', wanted.url, name, field, callIdentity(flow, answers, { credential, resource: wanted })])
  if (credential.reuse === 'address') return { own, allows }
  return { own, shared: JSON.stringify(['signed below', name, field, callIdentity(flow, answers)]), allows }
}

/** An entry of type `signedUrl` after reading. */
export type SignedUrlCredential = Credential & {
  readonly authorizationApi: string
  readonly method: 'GET' | 'POST'
  readonly signedUrlHosts: readonly UrlPattern[]
  readonly with?: string
  /** Texts may have placeholders for parts of the URL to be signed. */
  readonly parameters?: ReadonlyMap<string, Secret>
  /** The service on whose URLs bucket and key are told apart, where its host is none that is known. */
  readonly endpoint?: string
  readonly virtualHost?: boolean
  /** In code only. */
  readonly parameter?: ParameterFunction
  readonly responseField?: string
  /** What one signature serves: all that it says it covers (default), or one address. */
  readonly reuse?: 'container' | 'address'
  /** Calls per second that the API is never asked to exceed. */
  readonly signingRate?: number
}

/** What is wrong with the shape of a scheme. Errors: `SCHEME_INVALID`, `FLOW_INVALID`. */
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
      return new SelectionError('FLOW_INVALID', 'authorizationApi is not a text', { pointer: `${place}/authorizationApi` })
  }
  return undefined
}

/** The tuple of one flow: its API, where it states one, and its method. */
function flowIdentity(name: string, flow: SignedUrlFlow): IdentityMember[] {
  const at = pointer('/flows', name)
  const method: IdentityMember = { name: 'method', value: methodOf(flow), pointer: `${at}/method` }
  if (flow.authorizationApi === undefined) return [method]
  return [{ name: 'authorizationApi', value: flow.authorizationApi, pointer: `${at}/authorizationApi`, url: 'relative' }, method]
}

/** The flow that says what the entry says; schemes may have several. */
function flowFor({ flows }: SignedUrlScheme, { method, authorizationApi }: SignedUrlCredential): [string, SignedUrlFlow] {
  const entries = Object.entries(flows)
  const fits = ([, flow]: [string, SignedUrlFlow]) =>
    methodOf(flow) === method && (flow.authorizationApi === undefined || sameUrl(flow.authorizationApi, authorizationApi))
  return entries.find(fits) ?? entries.find(([, flow]) => methodOf(flow) === method) ?? ['', { method }]
}

/** The HTTP method of a signing call, in upper case. */
function methodOf(flow: SignedUrlFlow | undefined): 'GET' | 'POST' {
  return flow?.method?.toUpperCase() === 'POST' ? 'POST' : 'GET'
}

function sameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href === other
}

/**
 * The address of the asset itself, when the resource lies below it: `fetchFor` replaces the address of its target and leaves the
 * target's object as it is. Undefined for the asset itself and for whatever lies elsewhere.
 */
function rootOf({ url, target }: Resource): string | undefined {
  const href = target && ownString(target.object, 'href')
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

/** The call of a signing API: each parameter where its `in` says, the body as a JSON object. */
function signingRequest({ authorizationApi, method }: SignedUrlCredential, parameters: readonly BoundParameter[]): HttpRequest {
  let url = authorizationApi
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
