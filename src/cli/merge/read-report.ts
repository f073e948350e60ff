/** Reports of earlier runs. They come from files, so nothing in them is believed before it is checked. */
import { createReadStream } from 'node:fs'
import { ConfigurationError, isAuthError } from '../../errors.ts'
import type { Problem } from '../../lint/index.ts'
import type { Incomplete, Report, Summary } from '../../lint/reporters/report.ts'
import { readFailure } from '../../node/system-error.ts'
import { isObject, own } from '../../stac/json.ts'
import type { Io } from '../io.ts'
import { readAtMost } from '../read-bytes.ts'

/** Bytes of one report; a text of the engine holds no more than twice that. */
const MOST = 256 * 2 ** 20

/**
 * The report in a file or on standard input (`-`), as `--format json` or `ndjson` wrote it. Errors: `FILE_ACCESS`, `DOC_TOO_LARGE`,
 * `CONFIG_INVALID`.
 */
export async function readReport(name: string, { stdin }: Pick<Io, 'stdin'>): Promise<Report> {
  const bytes = await readAtMost(name === '-' ? stdin : createReadStream(name), MOST).catch((error) => {
    throw isAuthError(error) ? error : readFailure(error, name)
  })
  const text = new TextDecoder().decode(bytes)
  const whole = parsed(text)
  const report = whole !== undefined && own(whole, 'problems') !== undefined ? whole : ofLines(text, name)
  return checked(report, name)
}

/** Findings, one on each line, and behind them the summary. */
function ofLines(text: string, name: string): unknown {
  const lines = text.split('\n')
  while (lines.at(-1)?.trim() === '') lines.pop()
  const values = lines.map((line, index) => parsed(line) ?? invalid(name, `line ${index + 1} is no JSON`))
  const last = values.pop()
  if (own(last, 'summary') === undefined) invalid(name, 'it does not end with a summary: it is no report, or was not written to its end')
  return { ...(isObject(last) && last), problems: values }
}

function checked(report: unknown, name: string): Report {
  if (own(report, 'version') !== 1) return invalid(name, 'it is no report of version 1')
  const problems = own(report, 'problems')
  if (!Array.isArray(problems)) return invalid(name, 'its problems are no list')
  const wrong = problems.findIndex((problem) => readProblem(problem) === undefined)
  if (wrong >= 0) return invalid(name, `problem ${wrong + 1} is none`)
  const summary = readSummary(own(report, 'summary')) ?? invalid(name, 'its summary is none')
  const known = problems.flatMap((problem) => readProblem(problem) ?? [])
  const few = COUNTS.find(([count, severity]) => summary[count] < known.filter((problem) => problem.severity === severity).length)
  if (few) return invalid(name, `its summary counts fewer ${few[0]} than it lists`)
  return { version: 1, problems: known, summary }
}

/** A quiet report lists fewer than it counts, none lists more. */
const COUNTS = [
  ['errors', 'error'],
  ['warnings', 'warn'],
  ['infos', 'info'],
] as const

const TEXTS = ['rule', 'code', 'severity', 'message', 'document', 'id', 'pointer', 'fix', 'fingerprint'] as const
const NUMBERS = ['line', 'column', 'endLine', 'endColumn'] as const
const WORDS: Readonly<Record<string, RegExp>> = {
  rule: /^[a-z][a-z0-9-]*$/,
  code: /^[a-z][a-z0-9-]*$/,
  severity: /^(?:error|warn|info)$/,
  pointer: /^(?:\/[^/]*)*$/,
  fix: /^(?:safe|suggestion)$/,
}

/** A finding with the members of one and no others, in the order in which they are printed; undefined for what is none. */
export function readProblem(value: unknown): Problem | undefined {
  if (!isObject(value)) return undefined
  const isRight = (name: string) => {
    const member = own(value, name)
    if (NUMBERS.some((known) => known === name)) return Number.isInteger(member) && Number(member) > 0
    return typeof member === 'string' && (WORDS[name]?.test(member) ?? true)
  }
  const known = Object.keys(value).filter((name) => [...TEXTS, ...NUMBERS].some((member) => member === name))
  const needed = ['rule', 'severity', 'message', 'pointer']
  if (!needed.every((name) => known.includes(name)) || !known.every(isRight)) return undefined
  // Reports that were written before rules had cases have no code.
  const { rule, code = rule, ...others } = Object.fromEntries(known.map((name) => [name, value[name]]))
  return { rule, code, ...others } as unknown as Problem
}

function readSummary(value: unknown): Summary | undefined {
  const incomplete = own(value, 'incomplete')
  if (!isObject(value) || !Array.isArray(incomplete) || !incomplete.every(isIncomplete)) return undefined
  const [documents, errors, warnings, infos] = ['documents', 'errors', 'warnings', 'infos'].map((name) => own(value, name))
  const baselined = own(value, 'baselined')
  const unlisted = own(value, 'unlisted')
  const skipped = own(value, 'skipped')
  if (![documents, errors, warnings, infos, baselined ?? 0, unlisted ?? 0, skipped ?? 0].every(isCount)) return undefined
  return {
    documents: Number(documents),
    errors: Number(errors),
    warnings: Number(warnings),
    infos: Number(infos),
    ...(baselined !== undefined && { baselined: Number(baselined) }),
    ...(unlisted !== undefined && { unlisted: Number(unlisted) }),
    ...(skipped !== undefined && { skipped: Number(skipped) }),
    incomplete: incomplete.map(({ url, code, message, hint, exit }) => ({
      url,
      code,
      ...(message !== undefined && { message }),
      ...(hint !== undefined && { hint }),
      ...(exit !== undefined && { exit }),
    })),
  }
}

function isIncomplete(value: unknown): value is Incomplete {
  const exit = own(value, 'exit')
  const isCode = /^[A-Z][A-Z0-9_]*$/.test(String(own(value, 'code')))
  const areTexts = ['message', 'hint'].every((name) => ['string', 'undefined'].includes(typeof own(value, name)))
  return typeof own(value, 'url') === 'string' && isCode && areTexts && (exit === undefined || (isCount(exit) && exit < 256))
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function invalid(name: string, what: string): never {
  const hint = 'stac-auth lint writes one: --format json=FILE or --format ndjson=FILE'
  throw new ConfigurationError('CONFIG_INVALID', `"${name}" cannot be merged: ${what}`, { hint })
}
