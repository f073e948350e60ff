/**
 * The login of an archive with hosts of its own for data and for accounts, as Earthdata has it: the data host sends whoever has no
 * session to the login host, which asks for Basic, sets a session of its own and sends a code back, for which the data host sets its
 * session and sends the user to the file. Both are strict: what they did not set they refuse.
 */
import { randomBytes } from 'node:crypto'
import type { Answer, Inquiry } from './answering-server.ts'
import { accountOf, sameText } from './guards.ts'

export interface CookieLoginOptions {
  /** Origins. */
  readonly data: string
  readonly login: string
  readonly username: string
  readonly password: string
  /** Further attributes of the data host's session cookie. */
  readonly attributes?: string
  /** Further `Set-Cookie` fields of every redirect, by the host that sets them. */
  readonly more?: { readonly data?: readonly string[]; readonly login?: readonly string[] }
}

export interface CookieLogin {
  data(request: Inquiry): Answer
  login(request: Inquiry): Answer
  /** What no correct client does. */
  readonly violations: readonly string[]
  /** Files given, sessions begun at the data host, passwords looked at. */
  readonly counts: { files: number; sessions: number; passwords: number }
  /** Ends every session at the data host. */
  expire(): void
}

const CLIENT = 'data-portal'
const OWN = { data: new Set(['state', 'session']), login: new Set(['account']) }

export function cookieLogin(options: CookieLoginOptions): CookieLogin {
  const { data, login, username, password, attributes = 'Path=/; Secure; HttpOnly; SameSite=Lax', more = {} } = options
  const violations: string[] = []
  const counts = { files: 0, sessions: 0, passwords: 0 }
  const states = new Map<string, string>()
  const codes = new Set<string>()
  const sessions = new Set<string>()
  const accounts = new Set<string>()
  const callback = `${data}/login`

  function cookiesOf(request: Inquiry, host: keyof typeof OWN): ReadonlyMap<string, string> {
    const pairs = (request.headers.cookie ?? '').split('; ').filter(Boolean)
    const cookies = new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
    const allowed = [...OWN[host], ...(more[host] ?? []).map((field) => field.slice(0, field.indexOf('=')))]
    for (const name of cookies.keys()) if (!allowed.includes(name)) violations.push(`${host} got the cookie ${name}`)
    if (cookies.size !== pairs.length) violations.push(`${host} got a cookie twice`)
    return cookies
  }

  function toLogin(request: Inquiry): Answer {
    const state = id()
    const binding = id()
    states.set(state, `${binding} ${request.target}`)
    const query = new URLSearchParams({ client_id: CLIENT, response_type: 'code', redirect_uri: callback, state })
    return redirect(`${login}/oauth/authorize?${query}`, [`state=${binding}; Path=/login; Secure; HttpOnly`, ...(more.data ?? [])])
  }

  function begin(request: Inquiry): Answer {
    const code = request.query.get('code') ?? ''
    const [binding, place = '/'] = (states.get(request.query.get('state') ?? '') ?? '').split(' ')
    states.delete(request.query.get('state') ?? '')
    if (!codes.delete(code) || !binding || !sameText(cookiesOf(request, 'data').get('state') ?? '', binding)) {
      violations.push('a code came without the state that it was asked for with')
      return { status: 400 }
    }
    counts.sessions++
    const session = id()
    sessions.add(session)
    return redirect(place, [
      `session=${session}; ${attributes}`,
      'state=; Path=/login; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      ...(more.data ?? []),
    ])
  }

  return {
    violations,
    counts,
    expire: () => sessions.clear(),
    data(request) {
      if (request.method !== 'GET') return { status: 405 }
      if (request.path === '/login') return begin(request)
      if (!request.path.startsWith('/files/')) return { status: 404 }
      if (!sessions.has(cookiesOf(request, 'data').get('session') ?? '')) return toLogin(request)
      counts.files++
      return { status: 200, headers: { 'content-type': 'image/tiff' }, body: `data of ${request.path}` }
    },
    login(request) {
      if (request.method !== 'GET' || request.path !== '/oauth/authorize') return { status: 404 }
      const cookies = cookiesOf(request, 'login')
      const { query } = request
      if (query.get('client_id') !== CLIENT || query.get('redirect_uri') !== callback || !query.get('state')) return { status: 400 }
      const isKnown = accounts.has(cookies.get('account') ?? '')
      if (!isKnown && request.headers.authorization) counts.passwords++
      if (!isKnown && !sameText(accountOf(request) ?? '', `${username}:${password}`)) {
        return { status: 401, headers: { 'www-authenticate': 'Basic realm="Please enter your login credentials"' } }
      }
      const account = id()
      accounts.add(account)
      const code = id()
      codes.add(code)
      const back = new URLSearchParams({ code, state: query.get('state') ?? '' })
      return redirect(`${callback}?${back}`, [`account=${account}; Path=/; Secure; HttpOnly`, ...(more.login ?? [])])
    },
  }
}

function redirect(location: string, cookies: readonly string[]): Answer {
  return { status: 302, headers: { location }, cookies }
}

function id(): string {
  return randomBytes(9).toString('base64url')
}
