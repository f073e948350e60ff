/**
 * Recognizes secrets: by names of members and parameters, by the token formats of issuers, and by random text.
 * A common word is never a secret, whatever the name of its field.
 */
import { type JsonObject, own } from '../stac/document.ts'

/** Names of query parameters that carry signatures, tokens and keys: shared access signatures, S3 and those who sign like it, tokens. */
const PARAMETERS = /^(?:sig|.+-signature|x-amz-security-token|(?:access_)?token|api_?key|client_secret|password|secret)$/

/** Members whose value is always a secret. */
const MEMBERS =
  /^(?:password|passwd|passphrase|secret|client_?secret|token|(?:access|refresh|id|session|sas)_?token|secret_?(?:access_?)?key|private_?key)$/i

/** Members whose value is a secret or the name of one: the value decides. */
const DOUBTFUL_MEMBERS = /(?:api[-_]?key|[-_](?:key|token|secret|password)|^(?:authorization|credentials?|connection_?string))$/i

/**
 * Characters of a value that are examined: what follows does not reveal a secret, and an expression that backtracks over millions of them
 * ends in an exception.
 */
const LONGEST = 4096

/** A JSON Web Token (RFC 7515 §7.1). Each part is searched once: text of a catalog may be one word of megabytes. */
const JSON_WEB_TOKEN = /(?<![\w-])(?=[\w-]+\.[\w-]{8,}\.)[\w-]*?\beyJ[\w-]{8}/

/** Other tokens and keys with a recognizable format, anywhere in a text; one pattern, because nearly all texts have none. */
const TOKEN = new RegExp(
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
    // AWS, GitHub, GitLab, Slack, Google, Stripe, npm, Hugging Face, Planet, Azure.
    /\b(?:AKIA|ASIA)[A-Z\d]{16}\b/,
    /\bgh[oprsu]_[A-Za-z\d]{30}/,
    /\bgithub_pat_\w{30}/,
    /\bglpat-[\w-]{20}/,
    /\bxox[abeoprs]-[\w-]{10}/,
    /\bAIza[\w-]{35}/,
    /\bGOCSPX-[\w-]{20}/,
    /\bya29\.[\w-]{20}/,
    /\b[rs]k_(?:live|test)_[A-Za-z\d]{16}/,
    /\b(?:npm|hf)_[A-Za-z\d]{30}/,
    /\bPLAK[\da-f]{32}\b/,
    /\b[Aa]ccount[Kk]ey=[\w+/]{40}/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

/** The value of an `Authorization` field (RFC 9110 §11.6.2), also in the middle of a sentence. */
const AUTHORIZATION = /\b(basic|bearer|token|api-?key|dpop)[ \t]+([\w.~+/:-]{8,4096}=*)/gi

/** A word for a secret in several languages, followed by the value itself. */
const NAMED =
  /(?:pass(?:word|wort|phrase|wd)|kennwort|mot de passe|contrase(?:ñ|n)a|senha|wachtwoord|lösenord|hasło|пароль|密码|密碼|パスワード|secret|geheimnis|api[-_ ]?(?:key|schlüssel)|(?:access|secret|subscription)[-_ ]?key|cl(?:é|e) d['’]api|clave|token|jeton)["'`]?\s*(?:is|ist|lautet|est|es|é|jest|:|=|：|は|是)\s*["'`“„«「]?([^\s"'`”“»」,;)]{6,4096})/giu

/** The user information of a URL in a text. */
const USER_INFO = /\b[a-z][a-z\d+.-]{0,20}:\/\/([^\s/?#@:"'<>]{1,100}):([^\s/?#@"'<>]{1,200})@/gi

/** Returns the lower-cased name of the first query parameter with a secret, or undefined. Placeholders are not secrets. */
export function secretParameter(address: string): string | undefined {
  const mark = address.indexOf('?')
  if (mark < 0) return undefined
  const query = address.slice(mark + 1).replace(/#.*$/s, '')
  const names = new Set<string>()
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=')
    if (equals < 0 || isMarker(pair.slice(equals + 1))) continue
    const name = pair.slice(0, equals).toLowerCase()
    if (PARAMETERS.test(name)) return name
    names.add(name)
  }
  // With an expiry in the query, or in a policy (CloudFront).
  return names.has('signature') && (names.has('expires') || names.has('key-pair-id')) ? 'signature' : undefined
}

/**
 * Returns true for a URL with a password. The text before `@` alone is a name: of a container (`abfss:`), of a user (`ssh:`), unless it is a
 * token; and a password of `anonymous` is none (RFC 1635).
 */
export function hasPassword(address: string): boolean {
  const userInfo = address.includes('@') ? /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)@/i.exec(address)?.[1] : undefined
  if (userInfo === undefined || isMarker(userInfo)) return false
  const [user = '', ...password] = userInfo.split(':')
  return (
    (password.join(':') !== '' && !/^(?:anonymous|ftp)$/i.test(user)) ||
    looksSecret(user) ||
    (/^https?:/i.test(address) && isOpaque(user, 8))
  )
}

/** True when a value is a secret, by the name of its member or by its form, and not a placeholder. */
export function isSecret(name: string, value: string): boolean {
  // Placeholders are rarer than values that nothing speaks against.
  const isNamed = MEMBERS.test(name) && value.length > 0 && !isPlainText(value)
  return (isNamed || looksSecret(value) || (DOUBTFUL_MEMBERS.test(name) && isOpaque(value, 8))) && !isPlaceholder(value)
}

/** True when the text is or contains a token, a key, a password or an `Authorization` field. */
export function looksSecret(text: string): boolean {
  if (text.length < 8) return false
  if (TOKEN.test(text) || (text.includes('eyJ') && JSON_WEB_TOKEN.test(text))) return true
  const fields = text.includes(' ') || text.includes('\t') ? matchesOf(AUTHORIZATION, text) : []
  for (const [, scheme = '', value = ''] of fields) if (isAuthorization(scheme, value)) return true
  for (const [, value = ''] of matchesOf(NAMED, text)) if (isOpaque(value.replace(/[.!?]{1,9}$/, ''), 6)) return true
  const userInfo = text.includes('@') ? matchesOf(USER_INFO, text) : []
  for (const [, user = '', password = ''] of userInfo) if (!isPlaceholder(user) && !isPlaceholder(password)) return true
  return hasSecretUrl(text) || hasRandomWord(text)
}

/** Returns the matches of a global pattern, of which most texts have none: `matchAll` copies the pattern first. */
function matchesOf(pattern: RegExp, text: string): Iterable<RegExpExecArray> {
  return text.search(pattern) < 0 ? [] : text.matchAll(pattern)
}

/** True for credentials after the name of an HTTP authentication scheme. Basic is recognized by its decoded parts (RFC 7617 §2). */
function isAuthorization(scheme: string, value: string): boolean {
  if (isPlaceholder(value)) return false
  if (scheme.toLowerCase() !== 'basic') return isOpaque(value, 10)
  // `atob` throws for other text, and many exceptions cost as much as a whole document.
  const digits = value.replace(/={1,2}$/, '')
  if (/[^A-Za-z\d+/]/.test(digits) || digits.length % 4 === 1 || (digits !== value && value.length % 4 !== 0)) return false
  return /^[^\0-\x1f\x7f:]+:[^\0-\x1f\x7f]+$/.test(atob(value))
}

/** True when a URL in the text carries a secret in its query. */
function hasSecretUrl(text: string): boolean {
  if (!text.includes('?')) return false
  for (const [url] of text.matchAll(/[?&]([\w-]{1,100})=([^\s&#"'<>]{8,4096})/g)) {
    const [name = '', value = ''] = url.slice(1).split('=', 2)
    if (PARAMETERS.test(name.toLowerCase()) && isOpaque(value, 8)) return true
  }
  return false
}

/** Minimum length of a word that is recognized as random by its characters alone. */
const RANDOM_LENGTH = 32
/** Minimum share of characters in a random word whose kind (capital, small letter, digit) differs from the one before; 0.62 on average. */
const RANDOM_CHANGES = 0.45

const LONG_WORD = /(?<![\w+/.:%-]|base64,)[\w+/-]{32,512}={0,2}(?![\w+/%-]|\.\w)/g

/** True when a text contains a word of letters and digits in random order; hexadecimal words, such as checksums, do not count. */
function hasRandomWord(text: string): boolean {
  if (text.length < RANDOM_LENGTH) return false
  for (const [word] of matchesOf(LONG_WORD, text)) {
    const letters = word.replace(/[^A-Za-z\d]/g, '')
    if (!/^[\da-f]*$/i.test(letters) && /\d/.test(letters) && changes(letters) / letters.length >= RANDOM_CHANGES) return true
  }
  return false
}

function changes(letters: string): number {
  let found = 0
  let before = ''
  for (const letter of letters) {
    const kind = letter <= '9' ? 'digit' : letter <= 'Z' ? 'capital' : 'small'
    if (before !== '' && kind !== before) found++
    before = kind
  }
  return found
}

/** True for random text: not a word, short number, date, version, path or other text that people write. */
function isOpaque(whole: string, least: number): boolean {
  const value = whole.slice(0, LONGEST)
  if (value.length < least || isPlaceholder(value) || /\s/.test(value)) return false
  if (/^[\da-f]{16,}$/i.test(value) || UUID.test(value)) return true
  if (/^\d*$/.test(value)) return value.length >= 16
  if (value.includes('://') || /^(?:\/|\.\.?\/)/.test(value) || /^[a-z\d-]+(?:\.[a-z\d-]+)*\.[a-z]{2,}(?:[:/].*)?$/i.test(value))
    return false
  if (!/\d/.test(value) || !/[a-z]/i.test(value)) return value.length >= 16 && changes(value.replace(/[^A-Za-z]/g, '')) >= 5
  // Words with a number after or before them: oauth2, level-2a, v1.2.0, sha256, 2026-01-01T00:00:00Z.
  const parts = value.split(/[^A-Za-z\d]+/).filter((part) => part !== '')
  if (parts.every((part) => KNOWN.test(part))) return false
  return value.length >= 12 ? parts.some((part) => changes(part) >= 3 || part.length >= 16) || parts.every((part) => /\d/.test(part)) : true
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const KNOWN =
  /^(?:\d+|v?\d+[a-z]?|[a-z]+|oauth\d|oidc\d?|(?:sha|md|hs|rs|es|ps|utf|http|tls|rfc|base|s|l|level|band|b|ed)\d+[a-z]{0,2}|\d+t\d+z?)$/i

/** Words that describe a secret, or mark its place. */
const PLAIN =
  /^(?:required|optional|none|null|true|false|yes|no|string|text|header|query|cookie|body|bearer|basic|digest|jwt|opaque|personal|private|public|static|dynamic|token|password|secret|key|access[-_ ]?token|id[-_ ]?token|api[-_ ]?key|oauth2?|oidc|see .*|ask .*|n\/a|tbd)$/i

/** True for a description in place of a secret: one of the words above, or a sentence. */
function isPlainText(whole: string): boolean {
  const value = whole.slice(0, LONGEST).trim()
  return !looksSecret(whole) && (PLAIN.test(value) || /^\p{Lu}?[\p{L}\p{M}'’,.:;()/-]+(?: [\p{L}\p{M}\d'’,.:;()/"-]+){3,}$/u.test(value))
}

/** Text that marks the place of a secret. */
const MARKER =
  /^(?:(?:Basic|Bearer) +)?(?:<.*>|\[.*\]|\{.*\}|%7B.*%7D|\$.*|#\{.*\}|[*x•_-]{3,}|…|\.{3}|(?:your|my|insert|enter|put|paste|example|sample|dummy|fake)(?:[-_ ].*)?)?$|change[-_]?me|placeholder|redacted|goes[-_ ]here/is

/** Words that name a secret where a text shows its place. In a URL they are sent as they are. */
const WORD = /^(?:(?:Basic|Bearer) +)?(?::?(?:user(?:name)?|pass(?:word|wd)?|secret|token|key|login|foo))+$/i

function isMarker(value: string): boolean {
  return MARKER.test(value.slice(0, LONGEST))
}

function isPlaceholder(value: string): boolean {
  return isMarker(value) || WORD.test(value)
}

const CREDENTIAL_HEADERS = /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key|apikey|x-auth-token|x-access-token)$/i

/** True for a parameter that sends a credential in a header. */
export function isCredentialHeader(name: string, parameter: JsonObject): boolean {
  return own(parameter, 'in') === 'header' && CREDENTIAL_HEADERS.test(name)
}
