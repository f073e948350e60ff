import { percentEncoded } from '../http/message.ts'

/** The longest part of a secret that may be seen. */
const SEEN = 3
const PLACEHOLDER = '[secret]'
/** Forms that are remembered. */
const MOST = 1000

/**
 * Takes secrets out of text: as they are, percent-encoded, as a form writes them, in base64, in JSON, and their beginnings from the
 * fourth character on. What is shorter than four characters cannot be told from other text.
 */
export class Redactor {
  /** All forms by their first four characters. */
  readonly #forms = new Map<string, Set<string>>()

  /** Remembers a secret. */
  add(secret: string): void {
    if (secret.length <= SEEN) return
    for (const form of formsOf(secret)) {
      const start = form.slice(0, SEEN + 1)
      const forms = this.#forms.get(start) ?? new Set()
      // Of credentials that change all the time, the latest are enough.
      if (forms.size >= MOST) forms.clear()
      this.#forms.set(start, forms.add(form))
    }
    if (this.#forms.size > MOST) for (const oldest of [...this.#forms.keys()].slice(0, MOST / 2)) this.#forms.delete(oldest)
  }

  /** Remembers the value of a header; the word that says how it is meant, such as `Bearer`, is no secret. */
  addHeader(value: string): void {
    const [, word, rest = value] = /^([A-Za-z][\w-]*) +(.+)$/.exec(value) ?? []
    this.add(rest)
    if (word?.toLowerCase() === 'basic') this.#addLogin(rest)
    for (const [, quoted = ''] of rest.matchAll(/"([^"]*)"/g)) this.add(quoted)
  }

  /** Remembers the secret values among the members of a body. */
  addMembers(body: unknown, names: readonly string[]): void {
    if (typeof body !== 'object' || body === null) return
    for (const name of names) {
      const value: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined
      if (typeof value === 'string') this.add(value)
    }
  }

  readonly scrub = (text: string): string => {
    if (text.length <= SEEN) return text
    let scrubbed = text
    for (const [start, forms] of this.#forms) scrubbed = withoutBeginnings(scrubbed, start, forms)
    return scrubbed
  }

  /** The password of a user name and password in base64 (RFC 7617 §2). */
  #addLogin(base64: string): void {
    try {
      const login = atob(base64)
      this.add(login)
      this.add(login.slice(login.indexOf(':') + 1))
    } catch {
      // Not base64: nothing more is known about it.
    }
  }

  toJSON(): string {
    return PLACEHOLDER
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return PLACEHOLDER
  }
}

function formsOf(secret: string): readonly string[] {
  const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(secret))).replace(/=+$/, '')
  const percent = percentEncoded(secret)
  return [
    secret,
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    new URLSearchParams([['', secret]]).toString().slice(1),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
    JSON.stringify(secret).slice(1, -1),
  ]
}

/** Every place where one of the forms, or at least four characters of its beginning, stands; the longest counts. */
function withoutBeginnings(text: string, start: string, forms: ReadonlySet<string>): string {
  let at = text.indexOf(start)
  if (at < 0) return text
  let clean = ''
  let from = 0
  while (at >= 0) {
    let longest = 0
    for (const form of forms) longest = Math.max(longest, sameLength(text, at, form))
    clean += text.slice(from, at) + PLACEHOLDER
    from = at + longest
    at = text.indexOf(start, from)
  }
  return clean + text.slice(from)
}

function sameLength(text: string, at: number, form: string): number {
  let length = 0
  while (length < form.length && text[at + length] === form[length]) length++
  return length
}
