import type { Credential, Secret } from '../../auth/credential.ts'
import { type AuthFlow, type AuthStep, authorized } from '../../auth/strategy.ts'
import { base64, bytesOf } from '../../crypto/encoding.ts'
import { challengesOf } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../http/message.ts'
import { originOf } from '../../http/url.ts'
import { atHand, invalidField, reveal, unfit } from '../credential-values.ts'
import type { HttpAuthScheme, HttpContext } from './http-strategy.ts'

const username = { kind: 'text-or-secret', label: 'User name', required: true } as const

export const accountFields = { username, password: { kind: 'secret', label: 'Password', required: true } } as const

/**
 * `Basic` and base64 of the UTF-8 bytes of `user:password` (RFC 7617 §2, NFC as §2.1 requires), sent preemptively. A server that refuses
 * it and names no charset may expect ISO-8859-1, which is tried once when it differs.
 */
export const basic: HttpAuthScheme = {
  name: 'basic',
  fields: accountFields,
  // An empty source is treated as a mistake, so an empty password must be declared.
  alternative: {
    by: ['emptyPassword'],
    fields: { username, emptyPassword: { kind: 'boolean', label: 'The password is empty: the user name is the key', required: true } },
  },
  about: { standard: 'RFC 7617', browsers: 'yes', steps: 'a', testedAgainst: 'lighttpd, nginx, Caddy, Tomcat, libmicrohttpd, Twisted' },
  check: ({ emptyPassword }) => (emptyPassword === false ? invalidField('emptyPassword', 'must be true or absent') : undefined),
  peek(request, { credential, session }) {
    const account = atHand(credential) ? accountOf(credential) : undefined
    if (typeof account !== 'string') return undefined
    return stepOf(request, account, session.get<Charset>(keyOf(request))?.value)
  },
  authorize,
}

type Charset = 'UTF-8' | 'ISO-8859-1'

async function* authorize(request: HttpRequest, { credential, session }: HttpContext): AuthFlow {
  const account = await accountOf(credential)
  const key = keyOf(request)
  const known = session.get<Charset>(key)?.value
  const remember = async (charset: Charset) => {
    await session.resolve(key, async () => ({ value: charset }))
  }
  const response = yield stepOf(request, account, known)
  if (known) {
    if (response.status === 401) session.invalidate(key, known)
    return
  }
  if (!hasLatin1Form(account)) return
  if (response.status < 400) await remember('UTF-8')
  if (!namesNoCharset(response)) return
  const second = yield stepOf(request, account, 'ISO-8859-1')
  if (second.status < 400) await remember('ISO-8859-1')
}

/** True when the server requests Basic and names no charset (RFC 7617 §2.1). */
function namesNoCharset(response: HttpResponse): boolean {
  const offered = response.status === 401 ? challengesOf(response, 'basic') : []
  return offered.length > 0 && offered.every(({ params }) => !params.has('charset'))
}

function keyOf({ url }: HttpRequest): string {
  return `basic ${originOf(url)}`
}

function stepOf(request: HttpRequest, account: string, charset: Charset = 'UTF-8'): AuthStep {
  const bytes = charset === 'UTF-8' ? new TextEncoder().encode(account) : bytesOf(account)
  return authorized(withHeader(request, 'authorization', `Basic ${base64(bytes)}`))
}

/** Returns user name and password as one text. */
function accountOf(credential: Credential): string | Promise<string> {
  const user = reveal(credential.username as Secret, 'username', credential)
  const password = credential.emptyPassword === true ? '' : reveal(credential.password as Secret, 'password', credential)
  if (typeof user === 'string' && typeof password === 'string') return joined(user, password, credential.id)
  // Both are awaited at once: a source that fails while the other is read must not be left unhandled.
  return Promise.all([user, password]).then(([name, secret]) => joined(name, secret, credential.id))
}

function joined(user: string, password: string, id: string): string {
  if (user.includes(':')) throw unfit('username', id, 'contains a colon, which Basic does not support')
  if (/[\u0000-\u001f\u007f]/.test(user + password)) throw unfit('username or password', id, 'contains a control character')
  return `${user.normalize('NFC')}:${password.normalize('NFC')}`
}

/**
 * True when a text has different octets in ISO-8859-1 and UTF-8, and can be written in both: a server that names no charset may
 * expect either (RFC 7617 §2.1, RFC 7616 §4).
 */
export function hasLatin1Form(text: string): boolean {
  return /[^\0-\x7f]/.test(text) && !/[^\0-\xff]/.test(text)
}
