/** Data as `application/x-www-form-urlencoded` (WHATWG URL §5), for bodies and queries. */
import { percentEncoded } from '../../http/message.ts'
import { ValidationError } from './errors.ts'

/** Options of writing data as a form (WHATWG URL §5); services differ in lists, nesting and booleans. */
export interface FormOptions {
  /** `a[0]=x`, `a[]=x`, `a=x&a=y` or `a=x,y`; default `indices`. */
  readonly arrays?: 'indices' | 'brackets' | 'repeat' | 'comma'
  /** `a[b]=1` or `a.b=1`; default `brackets`. */
  readonly nesting?: 'brackets' | 'dots'
  /** `1`/`0` or `true`/`false`; default `digits`. */
  readonly booleans?: 'digits' | 'words'
  /** ISO 8601 or whole seconds since the epoch; default `iso`. */
  readonly dates?: 'iso' | 'unix'
  /** `n=`, nothing, or `REQUEST_INVALID`; default `empty`. */
  readonly nulls?: 'empty' | 'skip' | 'error'
  /** A space as `%20` or `+`; default `percent`. */
  readonly spaces?: 'percent' | 'plus'
}

/**
 * Empties a list or an object: a form writes `name=` for it. An empty list itself is `FORM_EMPTY_VALUE`, because a form would leave it out.
 *
 * @example await client.projects.update(60, { tags: CLEAR })
 */
export const CLEAR: unique symbol = Symbol.for('stac-auth.clear')

/**
 * Encodes the own members in their order. `undefined` is left out.
 *
 * Errors: `FORM_EMPTY_VALUE` for a list or object that is empty or contains only `undefined`, which a form would silently leave out;
 * `REQUEST_INVALID` with the path in `field` for values that a form cannot express: functions, symbols, numbers that are not finite,
 * circular references, unpaired surrogates.
 *
 * @example encodeForm({ name: 'ACME INC.', a: { b: 1 } }) // name=ACME%20INC.&a[b]=1
 */
export function encodeForm(data: Readonly<Record<string, unknown>>, options: FormOptions = {}): string {
  const pairs: string[] = []
  const write = new FormWriter(options, pairs)
  for (const name of Object.keys(data)) write.member(percentEncodedName(name, name), data[name], name)
  return pairs.join('&')
}

class FormWriter {
  readonly #options: FormOptions
  readonly #pairs: string[]
  /** The lists and objects that contain the current value. */
  readonly #around = new Set<object>()

  constructor(options: FormOptions, pairs: string[]) {
    this.#options = options
    this.#pairs = pairs
  }

  /** @param name as it is written @param at as errors call it */
  member(name: string, value: unknown, at: string): void {
    if (value === undefined) return
    if (value === CLEAR) {
      this.#pairs.push(`${name}=`)
    } else if (value === null) {
      this.#null(name, at)
    } else if (typeof value === 'object' && !(value instanceof Date)) {
      this.#enter(value, at)
      if (Array.isArray(value)) this.#list(name, value, at)
      else this.#object(name, value, at)
      this.#around.delete(value)
    } else {
      this.#pairs.push(`${name}=${this.#scalar(value, at)}`)
    }
  }

  #null(name: string, at: string): void {
    const { nulls = 'empty' } = this.#options
    if (nulls === 'error') throw refused(at, 'is null')
    if (nulls === 'empty') this.#pairs.push(`${name}=`)
  }

  #enter(value: object, at: string): void {
    if (this.#around.has(value)) throw refused(at, 'contains itself')
    this.#around.add(value)
    const isEmpty = Object.values(value).every((member) => member === undefined)
    if (isEmpty) {
      const hint = 'omit it, or use CLEAR to empty it'
      throw new ValidationError('FORM_EMPTY_VALUE', `"${at}" is empty, which a form cannot express; nothing was sent`, { field: at, hint })
    }
  }

  #object(name: string, value: object, at: string): void {
    for (const [key, inner] of Object.entries(value)) {
      const escaped = percentEncodedName(key, `${at}.${key}`)
      this.member(this.#options.nesting === 'dots' ? `${name}.${escaped}` : `${name}[${escaped}]`, inner, `${at}.${key}`)
    }
  }

  #list(name: string, values: readonly unknown[], at: string): void {
    const { arrays = 'indices' } = this.#options
    if (arrays === 'comma') {
      const { nulls } = this.#options
      const present = values.filter((value) => value !== undefined && !(value === null && nulls === 'skip'))
      if (present.length > 0) this.#pairs.push(`${name}=${present.map((value) => this.#item(value, at)).join(',')}`)
      return
    }
    const suffix = (index: number) => (arrays === 'indices' ? `[${index}]` : arrays === 'brackets' ? '[]' : '')
    values.forEach((value, index) => {
      this.member(name + suffix(index), value, `${at}[${index}]`)
    })
  }

  /** Encodes one item of a comma-separated value; a comma inside of it is escaped. */
  #item(value: unknown, at: string): string {
    if (typeof value === 'object' && value !== null && !(value instanceof Date))
      throw refused(at, 'has a list or an object in a comma-separated list')
    if (value === null && this.#options.nulls === 'error') throw refused(at, 'has null in it')
    return value === null ? '' : this.#scalar(value, at)
  }

  #scalar(value: unknown, at: string): string {
    const text = this.#text(value, at)
    if (!text.isWellFormed()) throw refused(at, 'has an unpaired surrogate in it')
    const encoded = percentEncoded(text)
    return this.#options.spaces === 'plus' ? encoded.replaceAll('%20', '+') : encoded
  }

  #text(value: unknown, at: string): string {
    switch (typeof value) {
      case 'string':
        return value
      case 'boolean':
        return this.#options.booleans === 'words' ? String(value) : value ? '1' : '0'
      case 'bigint':
        return String(value)
      case 'number':
        if (!Number.isFinite(value)) throw refused(at, 'is not a finite number')
        return String(value)
      default:
        if (value instanceof Date) return this.#date(value, at)
        throw refused(at, `is a ${typeof value}`)
    }
  }

  #date(value: Date, at: string): string {
    if (Number.isNaN(value.getTime())) throw refused(at, 'is not a valid date')
    return this.#options.dates === 'unix' ? String(Math.floor(value.getTime() / 1000)) : value.toISOString()
  }
}

/** Percent-encodes one part of a name; the brackets and dots around it are added unencoded. */
function percentEncodedName(name: string, at: string): string {
  if (!name.isWellFormed()) throw refused(at, 'has an unpaired surrogate in its name')
  return percentEncoded(name)
}

function refused(at: string, why: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `"${at}" ${why}; nothing was sent`, { field: at })
}
