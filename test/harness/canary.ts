/**
 * Finds secrets where none may be. A canary is a secret that occurs nowhere else; it is looked for in what was printed, thrown and written,
 * and in what servers received, in ten encodings: as it is, percent-encoded in upper and in lower case, as in a form, in base64 and
 * base64url (also in the middle of longer text), in base64 behind an account name, in a JSON string, in hexadecimal digits, and quoted as
 * Node prints it.
 */
import { inspect } from 'node:util'

/** A secret of which every occurrence is a leak. */
export interface Canary {
  readonly value: string
  /** Names of the encodings in which the secret, or an account with it, stands in the text. */
  seenIn(text: string): readonly string[]
}

let made = 0

/** A new secret; `tail` adds characters that the encodings tell apart. */
export function canary(label: string, tail = ''): Canary {
  const noise = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return canaryOf(`Cn${++made}${label}${noise}${tail}`)
}

/** The canary of a known text; `user` is the account name that may stand before it. */
export function canaryOf(value: string, user = 'ada'): Canary {
  const forms = Object.entries(encodings(value, user))
  // Many encodings leave many values as they are: each text is searched once for all of them.
  const different = [...new Set(forms.flatMap(([, list]) => list))]
  return {
    value,
    seenIn: (text) => {
      const seen = new Set(different.filter((form) => text.includes(form)))
      return seen.size === 0 ? [] : forms.flatMap(([name, list]) => (list.some((form) => seen.has(form)) ? [name] : []))
    },
  }
}

/** Everything that printing, logging and serialising can show of a value. */
export function shown(value: unknown): string {
  const texts = [inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true }), `${value}`, JSON.stringify(value) ?? '']
  if (value instanceof Error) texts.push(value.message, value.stack ?? '', shownCause(value), JSON.stringify({ ...value }))
  return texts.join('\n')
}

/** The same of a structured clone, where there is one. */
export function cloned(value: unknown): string {
  try {
    return inspect(structuredClone(value), { depth: Number.POSITIVE_INFINITY, showHidden: true })
  } catch {
    return ''
  }
}

/** Where each canary was seen, in words: an empty list is what a test wants. */
export function leaks(canaries: readonly Canary[], texts: Readonly<Record<string, string>>): readonly string[] {
  return canaries.flatMap((one) =>
    Object.entries(texts).flatMap(([place, text]) =>
      one.seenIn(text).map((encoding) => `${one.value.slice(0, 12)}… as ${encoding} in ${place}`),
    ),
  )
}

function encodings(value: string, user: string): Readonly<Record<string, readonly string[]>> {
  const bytes = Buffer.from(value)
  const percent = encodeURIComponent(value)
  const form = new URLSearchParams({ '': value }).toString().slice(1)
  const hex = bytes.toString('hex')
  return {
    raw: [value],
    percent: [percent],
    'lower-case percent': [percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())],
    form: [form],
    base64: inLongerText(bytes, 'base64'),
    base64url: inLongerText(bytes, 'base64url'),
    'base64 of an account': [Buffer.from(`${user}:${value}`).toString('base64')],
    json: [JSON.stringify(value).slice(1, -1)],
    hex: [hex, hex.toUpperCase()],
    quoted: [inspect(value).slice(1, -1)],
  }
}

/** The digits that are the same whatever stands before and behind it: three bytes are four digits, so there are three ways. */
function inLongerText(bytes: Buffer, encoding: 'base64' | 'base64url'): readonly string[] {
  return [0, 1, 2].map((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), bytes])
      .toString(encoding)
      .replace(/=+$/, '')
    return digits.slice(before === 0 ? 0 : before + 1, -1)
  })
}

function shownCause({ cause }: Error): string {
  return cause === undefined ? '' : shown(cause)
}
