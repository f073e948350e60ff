/** Servers that repeat what they were sent, an engine for one secret, and what may be seen of it where. */
import axios from 'axios'
import { createAuth } from '../../src/auth/create-auth.ts'
import { isAuthError } from '../../src/errors.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { leaks, shown } from '../harness/canary.ts'
import { type Reply, type Script, script } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Material, TOKEN_URL, tokenReply } from './materials.ts'
import { ALLOWED, type Allowed, READ_BY_PARSERS, URLS } from './origins.ts'
import { START } from './ways.ts'

/** The URL without what a credential adds to it. */
function placeOf(url: string): string {
  const place = places.get(url) ?? parsedPlace(url)
  places.set(url, place)
  return place
}
const places = new Map<string, string>()

function parsedPlace(url: string): string {
  if (!URL.canParse(url)) return url
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/%[0-9A-F]{2}/g, (code) => (code === '%3B' ? ';' : code === '%40' ? '@' : code.toLowerCase()))
}

/**
 * Does the work without stack traces, and so in half of the time: most cells end in a refusal, and a trace is mapped to the sources when it is
 * looked at. It names functions and files, never what they were called with.
 */
export async function withoutTraces<T>(work: () => Promise<T>): Promise<T> {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Places that the table of URLs allows. */
function allowedPlaces(by: Allowed): ReadonlySet<string> {
  const fromTable = URLS.filter(([, ...names]) => names.includes(by)).map(([url]) => placeOf(url))
  return new Set([...fromTable, `${START}302`, `${START}307`, ...(READ_BY_PARSERS[by] ?? [])])
}

/** Servers everywhere: they redirect from the start, ask for what they need, and repeat everything that they were sent. */
function servers(material: Material, refuses: boolean): Script {
  return script((request): Reply => {
    if (request.url === TOKEN_URL) return tokenReply(material)
    const { origin, pathname, searchParams } = new URL(request.url)
    const to = `${origin}/` === START ? searchParams.get('to') : null
    if (to !== null) return { status: Number(pathname.slice(1)), headers: { location: to } }
    const echo = `you sent ${request.url} ${JSON.stringify(request.headers)}`
    const isAsked = material.challenge !== undefined && request.headers.authorization === undefined
    const headers = {
      'x-echo': encodeURIComponent(echo),
      'www-authenticate': material.challenge ?? `Bearer realm="${encodeURIComponent(echo)}"`,
    }
    if (isAsked) return { status: 401, headers }
    return refuses ? { status: 401, headers, body: echo } : { body: 'content' }
  })
}

export interface Problems {
  readonly list: string[]
  /** `way url` for each request that bore the secret. */
  readonly carried: Set<string>
}

export function engineOf(material: Material, by: Allowed, refuses: boolean) {
  const sendTo = [...ALLOWED[by], START]
  const servers_ = servers(material, refuses)
  const told: unknown[] = []
  const auth = createAuth({
    credentials: unchecked({ ...material.credential, id: 'the-one', sendTo }),
    transport: servers_.send,
    onWarning: (warning) => told.push(warning),
    onUse: (...given) => told.push(given),
  })
  return { auth, servers: servers_, told }
}

/** Looks at what was sent and what came of it. */
export function examine(
  material: Material,
  by: Allowed,
  way: string,
  url: string,
  sent: readonly Pick<HttpRequest, 'url' | 'headers'>[],
  outcome: unknown,
  problems: Problems,
) {
  const allowed = allowedPlacesOf(by)
  for (const request of sent) {
    if (request.url === TOKEN_URL) continue
    const bears = material.isIn(request) || leaks(material.secrets, { request: shownRequest(request) }).length > 0
    if (!bears) continue
    problems.carried.add(`${way} ${placeOf(request.url)}`)
    if (!allowed.has(placeOf(request.url))) problems.list.push(`${way} of ${url} sent ${material.name} to ${request.url}`)
  }
  const text = outcome instanceof Error ? shown(outcome) : textsIn(outcome)
  for (const leak of leaks(material.secrets, { [`${way} of ${url}`]: text })) problems.list.push(leak)
  // axios makes errors of its own from ours, with the same code; a page cannot make some requests at all.
  const isOurs = isAuthError(outcome) || (axios.isAxiosError(outcome) && outcome.code !== undefined)
  if (outcome instanceof Error && !isOurs && !(outcome instanceof TypeError)) problems.list.push(`${way} of ${url} threw ${outcome.stack}`)
}

/** All texts in a value, each as it is. */
export function textsIn(value: unknown): string {
  const texts: string[] = []
  JSON.stringify(value, (name, inner) => {
    texts.push(name, typeof inner === 'string' ? inner : '')
    return inner
  })
  return texts.join('\n')
}

const known = new Map<Allowed, ReadonlySet<string>>()
export function allowedPlacesOf(by: Allowed): ReadonlySet<string> {
  const allowed = known.get(by) ?? allowedPlaces(by)
  known.set(by, allowed)
  return allowed
}

const shownRequest = ({ url, headers, body }: Partial<HttpRequest>) => JSON.stringify({ url, headers, body: String(body ?? '') })
