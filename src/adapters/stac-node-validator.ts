/** The linter as a custom validator of stac-node-validator 2 (Node 22.12 or newer). */
import { type LintOptions, lint, type Problem } from '../lint/index.ts'
import { forLine } from '../text/sanitize.ts'

/** The parts of a validation report that are used here. */
interface Report {
  valid: boolean | null
  readonly id?: string | null
  readonly source?: string | null
  readonly messages: string[]
  readonly results: { custom?: Error[] }
}

/** The list to which a custom validator adds its errors. */
interface Test {
  readonly errors: Error[]
}

/**
 * Adds the findings of the linter to a validation: errors make the document invalid, other findings become messages of its report.
 * Documents inside a FeatureCollection are validated one by one, so schemes of the FeatureCollection are not visible.
 *
 * @example
 * await validate(document, { customValidator: new AuthValidator({ preset: 'strict' }) })
 */
export class AuthValidator {
  readonly #options: LintOptions
  /** The parsed documents; later hooks may receive them wrapped in classes. */
  readonly #loaded = new WeakMap<Report, unknown>()

  constructor(options: LintOptions = {}) {
    this.#options = options
  }

  /** Returns the schema validator unchanged. */
  async createAjv<Validator>(validator: Validator): Promise<Validator> {
    return validator
  }

  /** Stores the document of a report and returns it unchanged. */
  async afterLoading<Document>(document: Document, report: Report): Promise<Document> {
    this.#loaded.set(report, document)
    return document
  }

  /** Returns null, so that the schema validation runs too. */
  async bypassValidation(): Promise<null> {
    return null
  }

  /** Lints the document of a report. */
  async afterValidation(document: unknown, test: Test, report: Report): Promise<void> {
    const name = report.source ?? report.id ?? undefined
    const found = lint(this.#loaded.get(report) ?? document, { ...this.#options, ...(name !== undefined && { document: name }) })
    for (const problem of found) {
      if (problem.severity === 'error') test.errors.push(new LintError(problem))
      else report.messages.push(`${problem.severity}: ${textOf(problem)}`)
    }
  }

  /** Runs a test and puts its errors into the report. */
  async testFn(report: Report, run: (report: Report, test: Test) => Promise<void>): Promise<void> {
    const test: Test = { errors: [] }
    await run(report, test)
    report.results.custom = [...(report.results.custom ?? []), ...test.errors]
    if (test.errors.length > 0) report.valid = false
  }
}

/** Converts a finding to an error of the validator. */
class LintError extends Error {
  override readonly name = 'LintError'
  readonly rule: string
  readonly code: string
  /** A JSON Pointer (RFC 6901), as in the instance paths of JSON Schema validators. */
  readonly instancePath: string

  constructor(problem: Problem) {
    super(textOf(problem))
    this.rule = problem.rule
    this.code = problem.code
    this.instancePath = problem.pointer
  }
}

function textOf({ message, code, pointer }: Problem): string {
  return forLine(`${message} [${code}]${pointer && ` at ${pointer}`}`)
}
