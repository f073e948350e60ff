/** What the documents of one run have said: some mistakes are only seen when several are read. */
import { isObject, type JsonObject } from '../stac/json.ts'

/** Definitions remembered; later ones are not compared. */
const REMEMBERED = 10_000

/** Where a scheme was defined first, and everything it was defined as. */
interface Definitions {
  readonly where: string
  readonly texts: Set<string>
}

export interface LintRunOptions {
  /** Returns the registrable domain of a host, by the public suffix list. Without it hosts are compared by their last two labels. */
  readonly siteOf?: (host: string) => string
}

/** The memory of a run. Hand the same one to `lint` or `lintText` for every document of it, in the order of the run. */
export class LintRun {
  readonly siteOf: ((host: string) => string) | undefined
  readonly #definitions = new Map<string, Definitions>()
  /** Names with definitions as they were written: putting the members in order costs more than all other rules about a scheme. */
  readonly #written = new Set<string>()
  #remembered = 0

  constructor({ siteOf }: LintRunOptions = {}) {
    this.siteOf = siteOf
  }

  /**
   * The document that was the first to define a scheme of that name, when it defined it differently. Each definition is told
   * once: what one program wrote into a thousand documents is one mistake.
   */
  otherDefinition(name: string, scheme: JsonObject, where: string): string | undefined {
    const written = `${name}\n${JSON.stringify(scheme)}`
    if (this.#written.has(written)) return undefined
    if (this.#written.size < REMEMBERED) this.#written.add(written)
    const text = JSON.stringify({ ...scheme, description: undefined }, sorted)
    const known = this.#definitions.get(name)
    if (known?.texts.has(text) || this.#remembered >= REMEMBERED) return undefined
    this.#remembered++
    if (known) known.texts.add(text)
    else this.#definitions.set(name, { where, texts: new Set([text]) })
    return known?.where
  }
}

/** The order of members means nothing. */
function sorted(_name: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value
}
