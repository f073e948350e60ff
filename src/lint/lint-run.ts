/** What the documents of one run have said: some mistakes are only seen when several are read. */
import { isObject, type JsonObject } from '../stac/json.ts'
import { Quiet } from './quiet.ts'

/** Names remembered; later ones are not compared. */
const REMEMBERED = 10_000

/** Where a scheme was defined first, and as what. */
interface Definition {
  readonly text: string
  readonly where: string
}

/** The memory of a run. Hand the same one to `lint` or `lintText` for every document of it, in the order of the run. */
export class LintRun {
  readonly #definitions = new Map<string, Definition>()
  readonly #quiet = new Map<object, Quiet>()

  /** What this run has found to be clean under one set of rules: other runs have seen other definitions. */
  quietUnder(rules: object): Quiet {
    const quiet = this.#quiet.get(rules) ?? new Quiet()
    this.#quiet.set(rules, quiet)
    return quiet
  }

  /** The document that defines a scheme of that name differently, or undefined; the first definition is the one that is kept. */
  otherDefinition(name: string, scheme: JsonObject, where: string): string | undefined {
    const text = JSON.stringify({ ...scheme, description: undefined }, sorted)
    const known = this.#definitions.get(name)
    if (known) return known.text === text ? undefined : known.where
    if (this.#definitions.size < REMEMBERED) this.#definitions.set(name, { text, where })
    return undefined
  }
}

/** The order of members means nothing. */
function sorted(_name: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value
}
