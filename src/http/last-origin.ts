/**
 * The origin of addresses that come one after the other, parsed only when it is another one than before: most programs ask for
 * many addresses of one origin, and parsing costs more than comparing.
 */
export class LastOrigin {
  #origin = ''

  /** The origin of an absolute address. Errors: `TypeError` for what is none. */
  of(url: string): string {
    const { length } = this.#origin
    if (length > 0 && url.charCodeAt(length) === 0x2f && url.startsWith(this.#origin)) return this.#origin
    const { origin } = new URL(url)
    if (origin !== 'null') this.#origin = origin
    return origin
  }
}
