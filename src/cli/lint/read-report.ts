/** Reads reports of earlier runs, and checks them by the JSON Schema of reports. */
import { createReadStream, readFileSync } from 'node:fs'
import { ConfigurationError, isAuthError } from '../../errors.ts'
import type { Problem } from '../../lint/index.ts'
import type { Report, Shard, Summary } from '../../lint/reporters/report.ts'
import { readFailure } from '../../node/base/index.ts'
import { isObject, own } from '../../stac/document.ts'
import { type Io, packageFile } from '../io.ts'
import { jsonIn, readAtMost } from '../read-document.ts'
import { conforming, type JsonShape } from './json-shape.ts'

/** Size limit of a report in bytes: half of the longest string in V8. */
const MOST = 256 * 2 ** 20

/**
 * Reads a report in json or ndjson format from a file or stdin (`-`). Errors: `FILE_ACCESS`, `DOC_TOO_LARGE`,
 * `CONFIG_INVALID`.
 */
export async function readReport(name: string, { stdin }: Pick<Io, 'stdin'>): Promise<Report> {
  const bytes = await readAtMost(name === '-' ? stdin : createReadStream(name), MOST).catch((error) => {
    throw isAuthError(error) ? error : readFailure(error, name)
  })
  const text = new TextDecoder().decode(bytes)
  const whole = jsonIn(text)
  const report = whole !== undefined && own(whole, 'problems') !== undefined ? whole : ofLines(text, name)
  return checked(report, name)
}

/** Parses an ndjson report: findings, then the summary. */
function ofLines(text: string, name: string): unknown {
  const lines = text.split('\n')
  while (lines.at(-1)?.trim() === '') lines.pop()
  const values = lines.map((line, index) => jsonIn(line) ?? invalid(name, `line ${index + 1} is not JSON`))
  const last = values.pop()
  const several = values.some((value) => own(value, 'summary') !== undefined)
  if (several) invalid(name, 'it contains several reports: give each as a file of its own')
  if (own(last, 'summary') === undefined) invalid(name, 'it does not end with a summary: it is not a report, or is incomplete')
  return { ...(isObject(last) && last), problems: values }
}

function checked(report: unknown, name: string): Report {
  if (own(report, 'version') !== 1) return invalid(name, 'it is not a report of version 1')
  const [found, counted, part] = ['problems', 'summary', 'shard'].map((member) => own(report, member))
  if (!Array.isArray(found)) return invalid(name, 'its problems are not a list')
  const problems = found.map((problem, index) => readProblem(problem) ?? invalid(name, `problem ${index + 1} is malformed`))
  const summary = (conforming(counted, { $ref: '#/definitions/summary' }, SCHEMA) as Summary) ?? invalid(name, 'its summary is malformed')
  const few = COUNTS.find(([count, severity]) => summary[count] < problems.filter((problem) => problem.severity === severity).length)
  if (few) return invalid(name, `its summary counts fewer ${few[0]} than it lists`)
  const shard =
    part !== undefined && ((conforming(part, { $ref: '#/definitions/shard' }, SCHEMA) as Shard) ?? invalid(name, 'its shard is malformed'))
  const { inputs = {}, pending = [] } = shard ? (shard.files ?? {}) : {}
  // The numbers order the findings.
  if (pending.some(({ problem: { document = '' } }) => own(inputs, document) === undefined)) invalid(name, 'its shard is malformed')
  return { version: 1, problems, summary, ...(shard && { shard: { ...NO_FACTS, ...shard } }) }
}

/** Members that a shard may lack. */
const NO_FACTS: Pick<Shard, 'outerRefs' | 'unsettled'> = { outerRefs: [], unsettled: [] }

/** Counts to check: a quiet report lists fewer findings than it counts, no report lists more. */
const COUNTS = [
  ['errors', 'error'],
  ['warnings', 'warn'],
  ['infos', 'info'],
] as const

const SCHEMA: JsonShape = JSON.parse(readFileSync(packageFile('schemas/report.json'), 'utf8'))

/** A finding, and the place that a report shows instead of its own. */
const FINDING: JsonShape = SCHEMA.definitions?.problem ?? {}
const PROBLEM: JsonShape = { ...FINDING, properties: { ...FINDING.properties, cause: { ...FINDING, required: ['pointer'] } } }

/** Validates a finding and drops unknown members; undefined if it is malformed. */
export function readProblem(value: unknown): Problem | undefined {
  // Reports of older versions have no code.
  const coded = own(value, 'code') === undefined && isObject(value) ? { ...value, code: value.rule } : value
  return conforming(coded, PROBLEM, SCHEMA) as Problem | undefined
}

function invalid(name: string, what: string): never {
  const hint = 'write reports with stac-auth lint --format json=FILE or --format ndjson=FILE'
  throw new ConfigurationError('CONFIG_INVALID', `"${name}" cannot be merged: ${what}`, { hint })
}
