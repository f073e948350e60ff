/** The issuer behind endpoints that are known, by discovery (RFC 8414 §3, OpenID Connect Discovery 1.0 §4). */
import type { HttpRequest, Send } from '../../http/message.ts'
import { isObject, type JsonObject, ownString } from '../../stac/json.ts'

/** Endpoints that a person has agreed to. */
export interface KnownEndpoints {
  readonly tokenUrl: string
  readonly authorizationUrl?: string
}

const OPEN_ID = '/.well-known/openid-configuration'
const RFC_8414 = '/.well-known/oauth-authorization-server'
/** Milliseconds for all questions, and the bytes of an answer. */
const TIMEOUT = 10_000
const MAX_ANSWER = 1_048_576
/** Segments of a path that may belong to an issuer: Keycloak's and Entra's have two. */
const MAX_SEGMENTS = 4

/**
 * Asks the hosts of the endpoints, and no others, for an issuer whose path the endpoints' paths begin with. It is believed only if its
 * document names itself and these very endpoints. Undefined when there is none, and when nobody answers; throws nothing.
 */
export async function findIssuer(known: KnownEndpoints, send: Send, signal?: AbortSignal): Promise<string | undefined> {
  const late = AbortSignal.timeout(TIMEOUT)
  const options = { allowPrivateNetwork: true, timeout: TIMEOUT, signal: signal ? AbortSignal.any([signal, late]) : late }
  for (const { issuer, url } of places(known)) {
    if (options.signal.aborted) return undefined
    const document = await documentAt(url, (request) => send(request, options))
    const named = ownString(document, 'issuer')
    if (named !== undefined && bare(named) === issuer && namesThem(document, known)) return named
  }
  return undefined
}

interface Place {
  /** Without a slash at its end. */
  readonly issuer: string
  readonly url: string
}

/** Shorter issuers first, for they are the usual ones. */
function places({ tokenUrl, authorizationUrl = tokenUrl }: KnownEndpoints): readonly Place[] {
  const issuers = [tokenUrl, authorizationUrl].flatMap((endpoint) => {
    const { origin, pathname } = new URL(endpoint)
    const segments = pathname.split('/').slice(1, -1).slice(0, MAX_SEGMENTS)
    return [...segments.keys(), segments.length].map((count) => ({
      origin,
      path: segments
        .slice(0, count)
        .map((one) => `/${one}`)
        .join(''),
    }))
  })
  const found = issuers.flatMap(({ origin, path }): Place[] => [
    { issuer: origin + path, url: origin + path + OPEN_ID },
    { issuer: origin + path, url: origin + RFC_8414 + path },
  ])
  return [...new Map(found.map((place) => [place.url, place])).values()]
}

async function documentAt(url: string, send: (request: HttpRequest) => ReturnType<Send>): Promise<JsonObject> {
  try {
    const response = await send({ method: 'GET', url, headers: { accept: 'application/json' } })
    if (response.status !== 200) {
      await response.discard()
      return {}
    }
    const document: unknown = JSON.parse(await response.text(MAX_ANSWER))
    return isObject(document) ? document : {}
  } catch {
    return {}
  }
}

function namesThem(document: JsonObject, { tokenUrl, authorizationUrl }: KnownEndpoints): boolean {
  const names = (member: string, url: string) => {
    const value = ownString(document, member)
    return value !== undefined && URL.canParse(value) && new URL(value).href === new URL(url).href
  }
  return names('token_endpoint', tokenUrl) && (authorizationUrl === undefined || names('authorization_endpoint', authorizationUrl))
}

/** As issuers are compared here: nothing but a slash at the end may differ. */
function bare(issuer: string): string {
  return issuer.replace(/\/$/, '')
}
