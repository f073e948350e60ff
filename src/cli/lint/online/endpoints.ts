/** Asks the services that schemes name what a client would ask before it logs in. */

import type { Auth } from '../../../auth/auth.ts'
import { isToken } from '../../../http/headers.ts'
import { addressOf, isAddressProblem } from '../../../http/url.ts'
import {
  isObject,
  type JsonObject,
  kindOf,
  own,
  ownObject,
  ownString,
  pointer,
  schemePlaces,
  wrappedMember,
} from '../../../stac/document.ts'
import { findScheme, schemeMaps, type Target, targetsOf } from '../../../stac/target.ts'
import { discoveryUrl } from '../../../strategies/oauth2/server.ts'
import { canParseUrl } from '../../../text/can-parse-url.ts'
import { type Answer, Asker, type Question, shortUrl } from './asker.ts'
import type { OnlineCheck, OnlineDocument, OnlineFinding } from './online-linter.ts'

/** A URL of a scheme, where findings about it are reported. */
interface Endpoint {
  readonly field: string
  readonly url: string
  readonly pointer: string
}

type Finding = Omit<OnlineFinding, 'id'>

/** What an endpoint should answer to a request without a credential. */
interface Expectation {
  readonly expected: string
  readonly accepts: (answer: Answered) => boolean
}

type Answered = Exclude<Answer, { readonly failed: string }>

/** OAuth 2.0, RFC 6749 §5.2: a token endpoint answers a request that is not complete with an error in JSON. */
const TOKEN: Expectation = {
  expected: '400 or 401 with a JSON object that has "error"',
  accepts: ({ status, json }) => (status === 400 || status === 401) && ownString(json, 'error') !== undefined,
}

/** A page or a redirect: a login, or an error because the request is not complete (RFC 6749 §4.1.2.1). */
const AUTHORIZATION: Expectation = {
  expected: 'a page or a redirect',
  accepts: ({ status }) => status < 400 || status === 400 || status === 401 || status === 403 || status === 422,
}

/** Signing services differ: the URL may be one that needs a path or parameters. */
const SIGNING: Expectation = { ...AUTHORIZATION, expected: 'a signed URL, or an error about the request' }

/** Checks the discovery documents, metadata and endpoints of the schemes in documents. */
export class Endpoints implements OnlineCheck {
  readonly codes = ['endpoint-unreachable', 'endpoint-answer', 'endpoint-metadata', 'scope-unlisted', 'endpoint-cors'] as const
  readonly #asker: Asker
  /** The file of each server that is asked about, by origin and header. */
  readonly #files = new Map<string, string>()

  constructor(auth: () => Promise<Auth>, signal: AbortSignal) {
    this.#asker = new Asker(auth, signal)
  }

  get note(): string | undefined {
    const { unasked } = this.#asker
    return unasked === 0 ? undefined : `--online: ${unasked} requests to endpoints were not sent: the limit of a run is reached`
  }

  async in(read: OnlineDocument): Promise<readonly OnlineFinding[]> {
    return [...(await this.#inSchemes(read)), ...(await this.#inTargets(read))]
  }

  async #inSchemes({ document, at, url }: OnlineDocument): Promise<readonly OnlineFinding[]> {
    const member = kindOf(document) === 'wrapper' ? wrappedMember(document) : undefined
    const inner = member === undefined ? undefined : own(document, member)
    const documents: [string, unknown][] = [[at, document]]
    if (Array.isArray(inner)) for (const [index, one] of inner.entries()) documents.push([`${at}/${member}/${index}`, one])
    const found: OnlineFinding[] = []
    for (const [place, one] of documents) {
      const id = ownString(one, 'id')
      if (isObject(one)) for (const finding of await this.#inDocument(one, place, url)) found.push({ ...finding, id })
    }
    return found
  }

  /** A page needs a preflight for a file that is requested with a header; servers are asked about one file of theirs. */
  async #inTargets({ document, at, parents, url }: OnlineDocument): Promise<readonly OnlineFinding[]> {
    const seen = new Set<string>()
    const found: OnlineFinding[] = []
    for (const target of targetsOf(document, { parents, ...(url !== undefined && { url }) })) {
      const endpoint = endpointOf(target.object, 'href', at + target.pointer, undefined, url)
      const header = headerFor(target)
      if (!endpoint || header === undefined) continue
      const key = `${new URL(endpoint.url).origin} ${header}`
      if (seen.has(key)) continue
      seen.add(key)
      const first = this.#files.get(key) ?? endpoint.url
      this.#files.set(key, first)
      const headers = { 'access-control-request-method': 'GET', 'access-control-request-headers': header }
      const preflight = { method: 'OPTIONS', url: first, headers } as const
      const answer = await this.#asker.ask(preflight)
      const id = ownString(target.scope.document, 'id')
      if (answer && answer.failed === undefined)
        found.push(...closedTo(endpoint, preflight, answer, header).map((finding) => ({ ...finding, id })))
    }
    return found
  }

  async #inDocument(document: JsonObject, at: string, url: string | undefined): Promise<readonly Finding[]> {
    const schemes = schemePlaces(document).flatMap(({ schemes: map, pointer: place }) =>
      isObject(map) ? Object.entries(map).map(([name, scheme]) => ({ scheme, place: pointer(at + place, name) })) : [],
    )
    return (await Promise.all(schemes.map(({ scheme, place }) => this.#scheme(scheme, place, url)))).flat()
  }

  async #scheme(scheme: unknown, at: string, base: string | undefined): Promise<readonly Finding[]> {
    const type = ownString(scheme, 'type')
    if (type === 'openIdConnect') {
      const endpoint = endpointOf(scheme, 'openIdConnectUrl', at)
      return endpoint ? this.#openIdConnect(endpoint) : []
    }
    const flows = Object.entries(ownObject(scheme, 'flows') ?? {})
    const check = type === 'oauth2' ? this.#oauth2 : type === 'signedUrl' ? this.#signing : undefined
    if (!check) return []
    return (await Promise.all(flows.map(([name, flow]) => check.call(this, flow, name, pointer(at, 'flows', name), base)))).flat()
  }

  /** OpenID Connect Discovery 1.0 §4: the document, its issuer, and the endpoints in it. */
  async #openIdConnect(endpoint: Endpoint): Promise<readonly Finding[]> {
    const url = discoveryUrl(endpoint.url)
    const expectation = { expected: 'a discovery document with "issuer" and endpoints', accepts: isMetadata }
    const question = { method: 'GET', url } as const
    const answer = await this.#asker.ask(question)
    const wrong = problemOf(endpoint, question, answer, expectation)
    if (!answer || answer.failed !== undefined || wrong.length > 0) return wrong
    const issuer = ownString(answer.json, 'issuer') ?? ''
    const found = [...closedTo(endpoint, question, answer)]
    if (discoveryUrl(issuer) !== url) {
      const data = { field: endpoint.field, published: 'URL of the issuer', metadata: shortUrl(url), value: shortUrl(issuer) }
      found.push({ code: 'endpoint-metadata', pointer: endpoint.pointer, data })
    }
    const named = (member: string, field: string) => endpointOf(answer.json, member, '', { ...endpoint, field })
    const login = named('authorization_endpoint', 'authorization_endpoint')
    const token = named('token_endpoint', 'token_endpoint')
    const more = await Promise.all([login && this.#authorization(login), token && this.#token(token, 'authorizationCode')])
    return [...found, ...more.flatMap((findings) => findings ?? [])]
  }

  async #oauth2(flow: unknown, name: string, at: string): Promise<readonly Finding[]> {
    const [login, token, refresh] = ['authorizationUrl', 'tokenUrl', 'refreshUrl'].map((field) => endpointOf(flow, field, at))
    const refreshes = refresh && refresh.url !== token?.url ? refresh : undefined
    const asked = await Promise.all([
      login && this.#authorization(login),
      token && this.#token(token, name),
      refreshes && this.#token(refreshes, 'refresh'),
    ])
    const found = asked.flatMap((findings) => findings ?? [])
    const wrong = new Set(found.flatMap(({ code, pointer: place }) => (code === 'endpoint-cors' ? [] : [place])))
    // An endpoint that is not one has one finding.
    return [...found, ...(await this.#metadata(flow, at, login, token)).filter(({ pointer: place }) => !wrong.has(place))]
  }

  async #authorization(endpoint: Endpoint): Promise<readonly Finding[]> {
    const question = { method: 'GET', url: endpoint.url, headers: { accept: 'text/html, */*;q=0.1' } } as const
    return problemOf(endpoint, question, await this.#asker.ask(question), AUTHORIZATION)
  }

  async #token(endpoint: Endpoint, flow: string): Promise<readonly Finding[]> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const question = { method: 'POST', url: endpoint.url, headers, body: `grant_type=${GRANTS[flow] ?? 'authorization_code'}` } as const
    const wrong = problemOf(endpoint, question, await this.#asker.ask(question), TOKEN)
    if (wrong.length > 0) return wrong
    // Pages send a preflight before a request with a credential in a header.
    const requested = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
    const preflight = { method: 'OPTIONS', url: endpoint.url, headers: requested } as const
    const answer = await this.#asker.ask(preflight)
    return answer && answer.failed === undefined ? closedTo(endpoint, preflight, answer) : []
  }

  /** RFC 8414: the endpoints and scopes of the flow are those that its server publishes, if it publishes any. */
  async #metadata(flow: unknown, at: string, login: Endpoint | undefined, token: Endpoint | undefined): Promise<readonly Finding[]> {
    const near = (token ?? login)?.url
    const known = near === undefined ? undefined : await this.#metadataNear(near)
    if (!known) return []
    const { url, metadata } = known
    const differing = [
      { endpoint: login, published: 'authorization_endpoint' },
      { endpoint: token, published: 'token_endpoint' },
    ].flatMap(({ endpoint, published }): readonly Finding[] => {
      const value = ownString(metadata, published)
      if (!endpoint || value === undefined || !canParseUrl(value) || new URL(value).href === endpoint.url) return []
      const data = { field: endpoint.field, published, metadata: shortUrl(url), value: shortUrl(value) }
      return [{ code: 'endpoint-metadata', pointer: endpoint.pointer, data }]
    })
    const supported = own(metadata, 'scopes_supported')
    const scopes = Array.isArray(supported) ? Object.keys(ownObject(flow, 'scopes') ?? {}) : []
    const unlisted = scopes.filter((scope) => !(supported as readonly unknown[]).includes(scope))
    return [
      ...differing,
      ...unlisted.map((scope): Finding => {
        return { code: 'scope-unlisted', pointer: pointer(at, 'scopes', scope), data: { scope, metadata: shortUrl(url) } }
      }),
    ]
  }

  /** Returns the metadata of the issuer of an endpoint; nothing is wrong when there is none. */
  async #metadataNear(endpoint: string): Promise<{ readonly url: string; readonly metadata: JsonObject } | undefined> {
    for (const issuer of issuersOf(new URL(endpoint))) {
      for (const url of metadataUrls(issuer)) {
        const answer = await this.#asker.ask({ method: 'GET', url })
        if (!answer || answer.failed !== undefined || answer.status !== 200) continue
        if (ownString(answer.json, 'issuer')?.replace(/\/$/, '') === issuer) return { url, metadata: answer.json ?? {} }
      }
    }
    return undefined
  }

  async #signing(flow: unknown, _name: string, at: string, base: string | undefined): Promise<readonly Finding[]> {
    const endpoint = endpointOf(flow, 'authorizationApi', at, undefined, base)
    if (!endpoint) return []
    const method = /^post$/i.test(ownString(flow, 'method') ?? '') ? 'POST' : 'GET'
    const question = { method, url: endpoint.url } as const
    return problemOf(endpoint, question, await this.#asker.ask(question), SIGNING)
  }
}

/** Values of `grant_type` by flow; without the other parameters no token is issued. */
const GRANTS: Readonly<Record<string, string | undefined>> = {
  authorizationCode: 'authorization_code',
  clientCredentials: 'client_credentials',
  password: 'password',
  refresh: 'refresh_token',
  tokenExchange: encodeURIComponent('urn:ietf:params:oauth:grant-type:token-exchange'),
}

/** Returns the endpoint in a member of a scheme, flow or metadata; undefined when it is not an http(s) URL, which other rules report. */
function endpointOf(holder: unknown, field: string, at: string, of?: Endpoint, base?: string): Endpoint | undefined {
  const url = addressOf(ownString(holder, field) ?? '', { secure: false, named: { has: () => true }, ...(base !== undefined && { base }) })
  if (isAddressProblem(url) || url.protocol === 's3:') return undefined
  url.hash = ''
  return { field: of?.field ?? field, url: url.href, pointer: of?.pointer ?? pointer(at, field) }
}

/** Returns the finding about an answer, if it is not the expected one. */
function problemOf(
  endpoint: Endpoint,
  question: Question,
  answer: Answer | undefined,
  { expected, accepts }: Expectation,
): readonly Finding[] {
  if (!answer) return []
  const request = `${question.method} ${shortUrl(question.url)}`
  if (answer.failed !== undefined) return [unreachable(endpoint, request, answer.failed)]
  if (answer.status === 429 || answer.status >= 500) return [unreachable(endpoint, request, `the server answered ${answer.text}`)]
  if (accepts(answer)) return []
  return [{ code: 'endpoint-answer', pointer: endpoint.pointer, data: { request, answer: answer.text, expected } }]
}

/** Returns the header that a page sends for the first reference of a target, in lower case; undefined for none. */
function headerFor({ object, refsOf, refs, scope, kind }: Target): string | undefined {
  const maps = schemeMaps(scope, { object, pointer: refsOf.pointer, describesItems: kind === 'item_asset' })
  const scheme = refs.map((ref) => findScheme(maps, ref)?.value).find((value) => value !== undefined)
  const type = ownString(scheme, 'type') ?? ''
  const name = ownString(scheme, 'name') ?? ''
  if (type === 'apiKey') return ownString(scheme, 'in') === 'header' && isToken(name) ? name.toLowerCase() : undefined
  return ['http', 'oauth2', 'openIdConnect'].includes(type) ? 'authorization' : undefined
}

function unreachable({ pointer: at }: Endpoint, request: string, reason: string): Finding {
  return { code: 'endpoint-unreachable', pointer: at, data: { request, reason } }
}

/** Returns the finding about an answer that a page of another origin cannot read. */
function closedTo(endpoint: Endpoint, { method, url }: Question, answer: Answered, header?: string): readonly Finding[] {
  const { allowsOrigin, allowedHeaders, status, text } = answer
  // Fetch Standard, "CORS-preflight fetch": the asterisk does not stand for `Authorization`.
  const names = header === 'authorization' ? [header] : [header, '*']
  const allowsHeader = header === undefined || allowedHeaders.some((name) => names.includes(name))
  if (allowsOrigin && allowsHeader && status < 300) return []
  const missing = !allowsOrigin
    ? 'Access-Control-Allow-Origin for it'
    : allowsHeader
      ? undefined
      : `Access-Control-Allow-Headers: ${header}`
  const without = missing === undefined ? text : `${text} without ${missing}`
  return [{ code: 'endpoint-cors', pointer: endpoint.pointer, data: { request: `${method} ${shortUrl(url)}`, answer: without } }]
}

function isMetadata({ status, json }: Answered): boolean {
  const isText = (name: string) => ownString(json, name) !== undefined
  return status === 200 && isText('issuer') && (isText('authorization_endpoint') || isText('token_endpoint'))
}

/** Returns what may be the issuer of an endpoint: its origin, and the realm of a Keycloak server. */
function issuersOf({ origin, pathname }: URL): readonly string[] {
  const [, realm] = /^(.*\/realms\/[^/]+)\/protocol\/openid-connect\//.exec(pathname) ?? []
  return realm === undefined ? [origin] : [origin + realm]
}

/** RFC 8414 §3.1, and OpenID Connect Discovery 1.0 §4. */
function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer)
  return [`${origin}/.well-known/oauth-authorization-server${pathname === '/' ? '' : pathname}`, discoveryUrl(issuer)]
}
