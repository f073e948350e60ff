import { isAuthError } from '../errors.ts'
import { type Asking, ask } from './ask.ts'
import { originOf, startAt } from './job.ts'
import { type Robots, readRobots } from './robots.ts'

/** What each origin wants to be left alone, asked once, before anything else of it is asked for (RFC 9309). */
export class RobotsOfOrigins {
  readonly #asking: Asking
  readonly #known = new Map<string, Promise<Robots>>()

  constructor(asking: Asking) {
    this.#asking = asking
  }

  /** True when the address may be asked for; files always may. */
  async allow(url: string): Promise<boolean> {
    const origin = originOf(url)
    if (origin === 'file:') return true
    const known = this.#known.get(origin) ?? this.#read(origin)
    this.#known.set(origin, known)
    return (await known)(url)
  }

  /** A server without the file forbids nothing; one that cannot give it forbids all (RFC 9309 §2.3.1). */
  async #read(origin: string): Promise<Robots> {
    try {
      const { bytes } = await ask(startAt(`${origin}/robots.txt`), { ...this.#asking, maxBytes: 512 * 1024 })
      return readRobots(new TextDecoder().decode(bytes))
    } catch (error) {
      const allowed = isAuthError(error) && error.status !== undefined && error.status >= 400 && error.status < 500
      return () => allowed
    }
  }
}
