/** What path and query a parser leaves as they are: no dot segment, nothing to be encoded, no fragment. */
const PLAIN = /^(?:\/(?!\.|%2e)[\w.~!$&()*+,;=:@%-]*)+(?:\?[\w.~!$&()*+,;=:@%/?-]+)?$/i

/**
 * The origin of addresses that come one after the other, parsed only when it is another one than before: most programs ask for
 * many addresses of one origin, and parsing costs more than comparing.
 */
export class LastOrigin {
  #origin = ''

  /** The origin of an absolute address. Errors: `TypeError` for what is none. */
  of(url: string): string {
    if (this.#begins(url)) return this.#origin
    const { origin } = new URL(url)
    if (origin !== 'null') this.#origin = origin
    return origin
  }

  /** The origin when it is the one before and the address is written just as a parser would write it, else undefined. */
  ofPlain(url: string): string | undefined {
    return this.#begins(url) && PLAIN.test(url.slice(this.#origin.length)) ? this.#origin : undefined
  }

  #begins(url: string): boolean {
    const { length } = this.#origin
    return length > 0 && url.charCodeAt(length) === 0x2f && url.startsWith(this.#origin)
  }
}
