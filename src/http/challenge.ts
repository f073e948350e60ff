/** Challenges of `WWW-Authenticate` and `Proxy-Authenticate`, and the parameters of `Authentication-Info` (RFC 9110 §11). */
import { FieldScanner } from './field-scanner.ts'

/** One challenge. Names of parameters are lower case; the scheme is as written and compared without case. */
export interface Challenge {
  readonly scheme: string
  readonly token68?: string
  readonly params: ReadonlyMap<string, string>
}

/** What was read, and what had to be left out and why (never with a value). */
export interface Challenges {
  readonly challenges: readonly Challenge[]
  readonly problems: readonly string[]
}

/** Longer field lines are not read; nor are more challenges than these. */
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

/** The parameters of `Authentication-Info` (RFC 7615); none when the line is malformed or names one twice. */
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

/** Answers with what ended the line early. A list of lists: whether an element belongs to the open challenge, its `=` tells. */
function readLine(line: string, challenges: Challenge[], problems: string[]): string | undefined {
  const scan = new FieldScanner(line)
  let open: Draft | undefined
  let first = false
  scan.commas()
  for (let comma = true; !scan.done; comma = scan.commas()) {
    const name = scan.token()
    if (name === undefined) return 'there is something that is neither a scheme nor a parameter'
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

function readParam(scan: FieldScanner, draft: Draft, written: string): string | undefined {
  const name = written.toLowerCase()
  const value = scan.value()
  if (value === undefined) return 'a parameter has no value that can be read'
  if (draft.params.has(name)) draft.twice = name
  draft.params.set(name, value)
  return undefined
}

function keep({ twice, ...challenge }: Draft, challenges: Challenge[], problems: string[]): void {
  if (twice === undefined) challenges.push(isUtf8(challenge) ? { ...challenge, params: decoded(challenge.params) } : challenge)
  else problems.push(`a challenge names the parameter "${twice.slice(0, 64)}" twice`)
}

function decoded(params: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...params].map(([name, value]) => [name, utf8Of(value)]))
}

/** Text whose UTF-8 bytes were read as Latin-1; other text stays as it is. */
function utf8Of(value: string): string {
  if (/[^\0-\xff]/.test(value)) return value
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(value, (char) => char.charCodeAt(0)))
  } catch {
    return value
  }
}
