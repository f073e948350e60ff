/** Finds the issuer of known endpoints by discovery (RFC 8414 §3, OpenID Connect Discovery 1.0 §4). */

import type { HttpRequest, Send } from '../../http/message.ts'
import { exchangeTimeout } from '../../http/network-error.ts'
import { withTimeout } from '../../net/cancellation.ts'
import { isObject, type JsonObject, ownString } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'

/** Endpoints that the user has confirmed. */
export interface KnownEndpoints {
  readonly tokenUrl: string
  readonly authorizationUrl?: string
}

const OPEN_ID = '/.well-known/openid-configuration'
const RFC_8414 = '/.well-known/oauth-authorization-server'
/** Timeout of all requests in milliseconds. */
const TIMEOUT = 10_000
const MAX_ANSWER = 1_048_576
/** Path segments that may belong to an issuer: Keycloak's and Entra's have two. */
const MAX_SEGMENTS = 4

/**
 * Requests discovery documents from the hosts of the endpoints, and no others, for issuers whose path is a prefix of the endpoints' paths.
 * A document is accepted only if it names itself and these endpoints. Returns undefined when there is none; never throws.
 */
export async function findIssuer(known: KnownEndpoints, send: Send, signal?: AbortSignal): Promise<string | undefined> {
  const { signal: end, clear } = withTimeout(signal, TIMEOUT, () => exchangeTimeout(known.tokenUrl, TIMEOUT))
  try {
    for (const { issuer, url } of places(known)) {
      if (end.aborted) break
      const document = await documentAt(url, (request) => send(request, { allowPrivateNetwork: true, timeout: TIMEOUT, signal: end }))
      const named = ownString(document, 'issuer')
      if (named !== undefined && bare(named) === issuer && namesThem(document, known)) return named
    }
    return undefined
  } finally {
    clear()
  }
}

interface Candidate {
  /** Without a trailing slash. */
  readonly issuer: string
  readonly url: string
}

/** Returns the candidates, shorter issuers first, because they are more common. */
function places({ tokenUrl, authorizationUrl = tokenUrl }: KnownEndpoints): readonly Candidate[] {
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
  const found = issuers.flatMap(({ origin, path }): Candidate[] => [
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
    return value !== undefined && canParseUrl(value) && new URL(value).href === new URL(url).href
  }
  return names('token_endpoint', tokenUrl) && (authorizationUrl === undefined || names('authorization_endpoint', authorizationUrl))
}

/** Normalises an issuer for comparison: only a trailing slash may differ. */
function bare(issuer: string): string {
  return issuer.replace(/\/$/, '')
}
