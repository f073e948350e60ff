/** The state that the documents of one run share: some mistakes show only in several documents. */
import { isObject, type JsonObject } from '../stac/document.ts'
import { namesOf } from './pointer.ts'
import type { Problem } from './problem.ts'

/** Limit of the definitions that are compared with later ones, and of the names of `OuterRefs`. */
const REMEMBERED = 10_000

/** The first document that defines a scheme, and all its different definitions. */
interface Definitions {
  readonly where: string
  readonly texts: Set<string>
}

/** A scheme that a document defines. */
export interface Defined {
  readonly name: string
  readonly scheme: JsonObject
  /** The name of its document. */
  readonly where: string
  /** The site of the document; empty if it is unknown. */
  readonly home: string
}

/** Options of a run over several documents. */
export interface LintRunOptions {
  /** Returns the registrable domain of a host, by the public suffix list. Without it hosts are compared by their last two labels. */
  readonly siteOf?: (host: string) => string
}

/**
 * Names that documents refer to and do not define: schemes of other documents. Above the limit every name is assumed to be one, so that
 * the result does not depend on the order of the documents.
 */
export class OuterRefs {
  readonly #names = new Set<string>()

  add(names: Iterable<string>): void {
    for (const name of names) if (this.#names.size <= REMEMBERED) this.#names.add(name)
  }

  /** Returns the names in alphabetical order: all, or one more than the limit. */
  all(): readonly string[] {
    return [...this.#names].sort()
  }

  has(name: string): boolean {
    return this.#names.size > REMEMBERED || this.#names.has(name)
  }

  /** Returns true for an unused scheme that another document refers to. */
  refutes(problem: Problem): boolean {
    return isRefutable(problem) && this.has(namesOf(problem.pointer).at(-1) ?? '')
  }
}

/**
 * True for a finding that other documents of a run may refute: an unused scheme of a Catalog or Collection, to which the documents below
 * may refer. Nothing else refers to the schemes of an Item.
 */
export function isRefutable({ code, pointer }: Problem): boolean {
  return code === 'unused-scheme' && !/\/properties\/auth:schemes\/[^/]*$/.test(pointer)
}

/**
 * The state of a run. Pass the same object to `lint` or `lintText` with every document, and all findings to `settled`.
 *
 * @example
 * const run = new LintRun()
 * const problems = run.settled(documents.flatMap((document) => lint(document, { run })))
 */
export class LintRun {
  /** Returns the registrable domain of a host, as given. */
  readonly siteOf: ((host: string) => string) | undefined
  /** Names that documents refer to and do not define. @internal */
  readonly outerRefs = new OuterRefs()
  readonly #definitions = new Map<string, Definitions>()
  /** Names with definitions as they were written: putting the members in order costs more than all other rules about a scheme. */
  readonly #written = new Set<string>()
  #remembered = 0

  constructor({ siteOf }: LintRunOptions = {}) {
    this.siteOf = siteOf
  }

  /** Returns the findings without those that another document of the run refutes; for the end of a run. */
  settled(problems: readonly Problem[]): readonly Problem[] {
    return problems.filter((problem) => !this.outerRefs.refutes(problem))
  }

  /** Adds names that a document refers to and does not define. @internal */
  addOuterRefs(names: Iterable<string>): void {
    this.outerRefs.add(names)
  }

  /**
   * Returns the first document of that site that defines a scheme of that name, if it defines it differently. Each definition is reported once: what
   * one program wrote into a thousand documents is one mistake.
   *
   * @internal
   */
  otherDefinition({ name, scheme, where, home }: Defined): string | undefined {
    const subject = `${home}\n${name}`
    const written = `${subject}\n${JSON.stringify(scheme)}`
    if (this.#written.has(written)) return undefined
    if (this.#written.size < REMEMBERED) this.#written.add(written)
    const text = JSON.stringify({ ...scheme, description: undefined }, sorted)
    const known = this.#definitions.get(subject)
    if (known?.texts.has(text) || this.#remembered >= REMEMBERED) return undefined
    this.#remembered++
    if (known) known.texts.add(text)
    else this.#definitions.set(subject, { where, texts: new Set([text]) })
    return known?.where
  }
}

/** Sorts members by name, because their order has no meaning. */
function sorted(_name: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value
}
