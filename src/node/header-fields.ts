import type { Dispatcher } from 'undici'

/** Header fields by name; lines of one name are joined by a comma. */
export class HeaderFields {
  readonly #fields: Dispatcher.ResponseData['headers']

  constructor(fields: Dispatcher.ResponseData['headers']) {
    this.#fields = fields
  }

  get(name: string): string | null {
    const value = this.#own(name.toLowerCase())
    return Array.isArray(value) ? value.join(', ') : (value ?? null)
  }

  getSetCookie(): string[] {
    const value = this.#own('set-cookie')
    return value === undefined ? [] : [value].flat()
  }

  toHeaders(): Headers {
    const headers = new Headers()
    for (const [name, value] of Object.entries(this.#fields)) {
      for (const line of [value ?? []].flat()) headers.append(name, line)
    }
    return headers
  }

  #own(name: string): string | string[] | undefined {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined
  }
}
