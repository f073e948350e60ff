/** Signed URLs: an API of the user's choice turns an address into one that opens by itself. */
import type { Credential } from '../auth/credential.ts'
import { authorized, type Leg } from '../auth/flow.ts'
import { coveredBy, type Grant, namedOrigin } from '../auth/grant.ts'
import type { Secret } from '../auth/secret.ts'
import type { Entry } from '../auth/session.ts'
import type { AuthContext, IdentityMember, PeekContext, Strategy } from '../auth/strategy.ts'
import { type AuthError, SelectionError, UnsupportedError } from '../errors.ts'
import { addressOf, isAddressProblem } from '../http/address.ts'
import { type HttpRequest, withUrl } from '../http/message.ts'
import { harmlessHeaders } from '../http/redirect.ts'
import { isObject, own, ownString, pointer } from '../stac/json.ts'
import type { SignedUrlFlow, SignedUrlScheme } from '../stac/scheme.ts'
import { bindParameters, checkParameters, conventionalValues } from './signed-url/parameters.ts'
import { readSignedAnswer } from './signed-url/signed-answer.ts'
import { signingRequest } from './signed-url/signing-request.ts'

export type SignedUrlCredential = Credential & {
  readonly authorizationApi: string
  readonly method: 'GET' | 'POST'
  readonly signedUrlHosts: readonly Grant[]
  readonly with?: string
  readonly parameters?: ReadonlyMap<string, Secret>
  readonly responseField?: string
}

type Context = AuthContext<SignedUrlScheme, SignedUrlCredential>

/** Asks the signing API of the entry, at most once per address while the answer lasts; a refused address is signed again once. */
export const signedUrl: Strategy<SignedUrlScheme, SignedUrlCredential> = {
  type: 'signedUrl',
  forms: [
    {
      fields: {
        authorizationApi: { kind: 'url', label: 'Address of the signing API', required: true },
        method: { kind: 'text', label: 'HTTP method of the signing call', required: true, values: ['GET', 'POST'] },
        signedUrlHosts: { kind: 'signed-url-patterns', label: 'Where signed addresses may point', required: true },
        with: { kind: 'id', label: 'Entry that authorizes the signing call' },
        parameters: { kind: 'parameters', label: 'Values of further parameters' },
        responseField: { kind: 'text', label: 'Member of the answer that holds the signed address' },
        sendTo: { kind: 'patterns', label: 'Addresses that may be signed; default: signedUrlHosts', required: false },
      },
    },
  ],
  problem,
  identity: ({ flows }) => Object.entries(flows).map(([name, flow]) => tuple(name, flow)),
  schemeOf: ({ authorizationApi, method, responseField }) => ({
    type: 'signedUrl',
    flows: {
      signedUrl: {
        method,
        authorizationApi,
        responseField,
        parameters: { href: { in: method === 'GET' ? 'query' : 'body', required: true } },
      },
    },
  }),
  refine: (entry) => (entry.sendTo.length ? entry : { ...entry, sendTo: entry.signedUrlHosts }),
  describe({ flows }) {
    const [flow] = Object.values(flows)
    const entry = { type: 'signedUrl', authorizationApi: flow?.authorizationApi ?? '…', method: methodOf(flow) }
    return { entry, fields: signedUrl.forms[0]?.fields ?? {} }
  },
  endpoints: ({ authorizationApi }) => [authorizationApi],
  reaches: ({ signedUrlHosts }, url) => coveredBy(signedUrlHosts, new URL(url)),
  prepare({ scheme, pointer: at, credential, resource }) {
    const [name, flow] = flowFor(scheme, credential)
    return checkParameters(flow, pointer(at, 'flows', name), credential.parameters ?? new Map(), resource)
  },
  peek(request, context) {
    const known = context.session.get<string>(sessionKey(context))
    return known && leg(request, known)
  },
  async *authorize(request, context) {
    const key = sessionKey(context)
    const first = await context.session.resolve<string>(key, (signal) => sign(context, signal))
    const response = yield leg(request, first)
    if (response.status !== 401 && response.status !== 403) return
    context.session.invalidate(key, first.value)
    const second = await context.session.resolve<string>(key, (signal) => sign(context, signal))
    if (second.value !== first.value) yield leg(request, second)
  },
}

/** The signed address opens by itself: on another origin nothing else of the caller's goes along. */
function leg(request: HttpRequest, { value, expiresAt }: Entry<string>): Leg {
  const sameOrigin = new URL(value).origin === new URL(request.url).origin
  const { method, headers } = request
  if (!sameOrigin && request.body !== undefined) {
    throw new UnsupportedError('SCHEME_UNSUPPORTED', 'a request with a body cannot follow a signed address to another origin', {
      url: request.url,
    })
  }
  const signed = sameOrigin ? withUrl(request, value) : { method, url: value, headers: harmlessHeaders(headers) }
  return { ...authorized(signed, expiresAt), replaces: true }
}

async function sign(context: Context, signal: AbortSignal): Promise<Entry<string>> {
  const { credential, resource, clock, scheme } = context
  const [, flow] = flowFor(scheme, credential)
  const bound = await bindParameters(flow, credential.parameters ?? new Map(), resource, credential)
  const send = context.input?.send ?? context.send
  const response = await send(signingRequest(credential, bound), { signal })
  return readSignedAnswer(response, {
    credential: credential.id,
    responseField: credential.responseField ?? ownString(flow, 'responseField'),
    addressOf: (text) => signedAddress(text, credential),
    now: clock.now(),
  })
}

/** Public, https (loopback and http only where the user named them), within `signedUrlHosts`; without fragment. */
function signedAddress(text: string, { signedUrlHosts }: SignedUrlCredential): string | undefined {
  const named = new Set(signedUrlHosts.map(namedOrigin).filter((origin) => origin !== undefined))
  const url = addressOf(text, { secure: true, named })
  if (isAddressProblem(url) || url.protocol === 's3:' || !coveredBy(signedUrlHosts, url)) return undefined
  url.hash = ''
  return url.href
}

function sessionKey({ resource, scheme, credential }: PeekContext<SignedUrlScheme, SignedUrlCredential>): string {
  const [name, flow] = flowFor(scheme, credential)
  return JSON.stringify(['signed', resource.url, name, ownString(flow, 'responseField'), conventionalValues(flow, resource)])
}

/** The flow that says what the entry says; schemes may have several. */
function flowFor({ flows }: SignedUrlScheme, { method, authorizationApi }: SignedUrlCredential): [string, SignedUrlFlow] {
  const entries = Object.entries(flows)
  const fits = ([, flow]: [string, SignedUrlFlow]) =>
    methodOf(flow) === method && (flow.authorizationApi === undefined || sameUrl(flow.authorizationApi, authorizationApi))
  return entries.find(fits) ?? entries.find(([, flow]) => methodOf(flow) === method) ?? ['', { method }]
}

function sameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href === other
}

function problem(scheme: unknown, at: string): AuthError | undefined {
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

function tuple(name: string, flow: SignedUrlFlow): IdentityMember[] {
  const at = pointer('/flows', name)
  const method: IdentityMember = { name: 'method', value: methodOf(flow), pointer: `${at}/method` }
  if (flow.authorizationApi === undefined) return [method]
  return [{ name: 'authorizationApi', value: flow.authorizationApi, pointer: `${at}/authorizationApi`, url: 'relative' }, method]
}

function methodOf(flow: SignedUrlFlow | undefined): 'GET' | 'POST' {
  return flow?.method?.toUpperCase() === 'POST' ? 'POST' : 'GET'
}
