/** The linter as a custom validator of stac-node-validator 2 (Node 22.12 or newer). */
import { type LintOptions, lint, type Problem } from '../lint/index.ts'
import { forLine } from '../text/sanitize.ts'

/** What the validator tells about a document, as far as it matters here. */
interface Report {
  valid: boolean | null
  readonly id?: string | null
  readonly source?: string | null
  readonly messages: string[]
  readonly results: { custom?: Error[] }
}

/** Where a custom validator puts its errors. */
interface Test {
  readonly errors: Error[]
}

/**
 * Adds the findings of the linter to a validation: errors make the document invalid, the rest becomes messages of its report.
 * Documents inside of a FeatureCollection are handed over one by one, so schemes around them are not seen.
 *
 * @example
 * const { AuthValidator } = await import('stac-auth/adapters/stac-node-validator')
 * await validate(document, { customValidator: new AuthValidator({ preset: 'strict' }) })
 */
export class AuthValidator {
  readonly #options: LintOptions
  /** Documents as they were read; later hooks may get them wrapped in classes. */
  readonly #loaded = new WeakMap<Report, unknown>()

  constructor(options: LintOptions = {}) {
    this.#options = options
  }

  /** Leaves the schema validator as it is. */
  async createAjv<Validator>(validator: Validator): Promise<Validator> {
    return validator
  }

  /** Remembers the document of a report and leaves it as it is. */
  async afterLoading<Document>(document: Document, report: Report): Promise<Document> {
    this.#loaded.set(report, document)
    return document
  }

  /** Never takes the place of the validation. */
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

/** A finding as the validator lists it. */
class LintError extends Error {
  override readonly name = 'LintError'
  readonly rule: string
  readonly code: string
  /** RFC 6901, in the form that JSON Schema validators use for the place of an error. */
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
