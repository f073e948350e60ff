/** Challenges of `WWW-Authenticate` and `Proxy-Authenticate`, parameters of `Authentication-Info`, names of schemes (RFC 9110 §11). */

import { ChallengeError } from '../errors.ts'

/** One challenge. Names of parameters are lower case; the scheme is as written and compared without case. */
export interface Challenge {
  readonly scheme: string
  readonly token68?: string
  readonly params: ReadonlyMap<string, string>
}

/** The parsed challenges, and the parts that were left out with the reason (never with a value). */
export interface Challenges {
  readonly challenges: readonly Challenge[]
  readonly problems: readonly string[]
}

/** Limits of field lines and challenges; the rest is ignored. */
const MAX_LINE = 8192

const MAX_CHALLENGES = 32

/**
 * Reads field lines, joined or one by one, and never throws. A syntax error ends its line: complete challenges before it
 * stay. A challenge that names a parameter twice is left out. Values are Latin-1 as `fetch` reads them, and UTF-8 where the
 * challenge says so. Source: RFC 9110 §5.6, §11.2 to §11.6.
 */
export function parseChallenges(lines: string | readonly string[]): Challenges {
  const challenges: Challenge[] = []
  const problems: string[] = []
  for (const line of typeof lines === 'string' ? [lines] : lines) {
    const problem = line.length > MAX_LINE ? `the line is longer than ${MAX_LINE} bytes` : readLine(line, challenges, problems)
    if (problem) problems.push(problem)
  }
  return { challenges, problems }
}

/** Returns the challenges of one scheme in `WWW-Authenticate`, in the server's order. */
export function challengesOf(
  { headers }: { readonly headers: { get(name: string): string | null } },
  scheme: string,
): readonly Challenge[] {
  const { challenges } = parseChallenges(headers.get('www-authenticate') ?? '')
  return challenges.filter((challenge) => challenge.scheme.toLowerCase() === scheme)
}

/** Returns the parameters of `Authentication-Info` (RFC 7615); empty when the line is malformed or contains a parameter twice. */
export function parseAuthenticationInfo(line: string): ReadonlyMap<string, string> {
  const scan = new FieldScanner(line.length > MAX_LINE ? '' : line)
  const info: Draft = { scheme: '', params: new Map() }
  scan.commas()
  for (let comma = true; !scan.done; comma = scan.commas()) {
    const name = scan.token()
    if (!comma || name === undefined || !scan.equals() || readParam(scan, info, name)) return new Map()
  }
  return info.twice === undefined ? info.params : new Map()
}

/** True when the values are read as UTF-8: the challenge says `charset="UTF-8"` or has an extended name (RFC 8187 §3.2). */
export function isUtf8({ params }: Challenge): boolean {
  return params.get('charset')?.toLowerCase() === 'utf-8' || [...params.keys()].some((name) => name.endsWith('*'))
}

/** A challenge that is still being read. */
interface Draft {
  readonly scheme: string
  readonly token68?: string
  readonly params: Map<string, string>
  /** A parameter that was named twice. */
  twice?: string
}

const NO_COMMA = 'a comma is missing between two challenges or parameters'

/** Returns the fault that ended the line early. The line is a list of lists: an element with `=` belongs to the open challenge. */
function readLine(line: string, challenges: Challenge[], problems: string[]): string | undefined {
  const scan = new FieldScanner(line)
  let open: Draft | undefined
  let first = false
  scan.commas()
  for (let comma = true; !scan.done; comma = scan.commas()) {
    const name = scan.token()
    if (name === undefined) return 'an element is neither a scheme nor a parameter'
    if (open && open.token68 === undefined && scan.equals()) {
      const problem = comma || first ? readParam(scan, open, name) : NO_COMMA
      if (problem) return problem
      first = false
      continue
    }
    if (open) keep(open, challenges, problems)
    if (!comma) return NO_COMMA
    if (challenges.length === MAX_CHALLENGES) return `there are more than ${MAX_CHALLENGES} challenges`
    first = scan.blanks()
    const token68 = first ? scan.token68() : undefined
    open = { scheme: name, ...(token68 !== undefined && { token68 }), params: new Map() }
  }
  if (open) keep(open, challenges, problems)
  return undefined
}

function readParam(scan: FieldScanner, builder: Draft, written: string): string | undefined {
  const name = written.toLowerCase()
  const value = scan.value()
  if (value === undefined) return 'the value of a parameter is malformed'
  if (builder.params.has(name)) builder.twice = name
  builder.params.set(name, value)
  return undefined
}

function keep({ twice, ...challenge }: Draft, challenges: Challenge[], problems: string[]): void {
  if (twice === undefined) challenges.push(isUtf8(challenge) ? { ...challenge, params: decoded(challenge.params) } : challenge)
  else problems.push(`a challenge names the parameter "${twice.slice(0, 64)}" twice`)
}

function decoded(params: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...params].map(([name, value]) => [name, utf8Of(value)]))
}

/** Returns a text whose UTF-8 bytes were read as Latin-1; other text is returned unchanged. */
function utf8Of(value: string): string {
  if (/[^\0-\xff]/.test(value)) return value
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(value, (char) => char.charCodeAt(0)))
  } catch {
    return value
  }
}

/** Reads structured field values from left to right (RFC 9110 §5.6). */
class FieldScanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** True at the end of the text. */
  get done(): boolean {
    return this.#at === this.#text.length
  }

  /** Skips spaces and tabs; true when there were any. */
  blanks(): boolean {
    return this.#take(BLANKS) !== undefined
  }

  /** Skips the end of a list element and empty ones after it; true when there was a comma. */
  commas(): boolean {
    return this.#take(COMMAS)?.includes(',') === true
  }

  /** Reads an equals sign and the blanks around it, if it is next. */
  equals(): boolean {
    return this.#take(EQUALS) !== undefined
  }

  token(): string | undefined {
    return this.#take(TOKEN)
  }

  /** Reads a token68 (§11.2) at the end of a list element; anywhere else it is the name of a parameter. */
  token68(): string | undefined {
    return this.#take(TOKEN68)
  }

  /** Reads the value of a parameter: a quoted string (unescaped), a token, or unquoted base64. */
  value(): string | undefined {
    return this.#take(QUOTED)?.slice(1, -1).replace(/\\(.)/g, '$1') ?? this.#take(UNQUOTED)
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }
}

const BLANKS = /[\t ]+/y

const COMMAS = /[\t ,]+/y

const EQUALS = /[\t ]*=[\t ]*/y

const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y

const TOKEN68 = /[A-Za-z0-9._~+/-]+=*(?=[\t ]*(?:,|$))/y

const QUOTED = /"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\uffff]|\\[\t\x20-\x7e\x80-\uffff])*"/y

const UNQUOTED = /[!#$%&'*+.^_`|~0-9A-Za-z/-]+=*/y

/** Name, value and form. The form `token` also allows base64, as in RFC 7804. */
export type AuthParam = readonly [name: string, value: string, form: 'quoted' | 'token']

/**
 * Formats parameters in the given order. Values are byte strings: the caller encodes text outside US-ASCII. Errors:
 * `AUTH_CHALLENGE_UNSUPPORTED` naming the parameter that has control characters or does not fit its form, never its value.
 */
export function authParams(params: readonly AuthParam[]): string {
  return params.map(([name, value, form]) => `${name}=${form === 'quoted' ? quoted(name, value) : bare(name, value)}`).join(', ')
}

function quoted(name: string, value: string): string {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw unwritable(name)
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

function bare(name: string, value: string): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z/-]+=*$/.test(value)) throw unwritable(name)
  return value
}

function unwritable(name: string): ChallengeError {
  return new ChallengeError(
    'AUTH_CHALLENGE_UNSUPPORTED',
    `the parameter "${name}" contains characters that are not allowed in a header. Nothing was sent`,
  )
}

/** The IANA registry of HTTP authentication schemes (RFC 9110 §16.4.1), in the registry's spelling. */
const REGISTERED = [
  'Basic',
  'Bearer',
  'Concealed',
  'Digest',
  'DPoP',
  'GNAP',
  'HOBA',
  'Mutual',
  'Negotiate',
  'OAuth',
  'PrivateToken',
  'SCRAM-SHA-1',
  'SCRAM-SHA-256',
  'vapid',
] as const

const SPELLING = /* @__PURE__ */ new Map<string, string>(/* @__PURE__ */ REGISTERED.map((name) => [name.toLowerCase(), name]))

/** Registered names in lower case, in the registry's order. */
export const REGISTERED_SCHEMES: readonly string[] = /* @__PURE__ */ REGISTERED.map((name) => name.toLowerCase())

/** True for a registered name, in any case. */
export function isRegisteredScheme(name: string): boolean {
  return SPELLING.has(name.toLowerCase())
}

/** Returns the registered spelling of a name; an unregistered name is returned unchanged. */
export function spellingOf(name: string): string {
  return SPELLING.get(name.toLowerCase()) ?? name
}
