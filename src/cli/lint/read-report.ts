/** Reads and validates reports of earlier runs. */
import { createReadStream } from 'node:fs'
import { ConfigurationError, isAuthError } from '../../errors.ts'
import type { Problem } from '../../lint/index.ts'
import type { FileShard, Incomplete, Pending, Report, Shard, ShardDefinition, Summary } from '../../lint/reporters/report.ts'
import { readFailure } from '../../node/base/index.ts'
import { isObject, own } from '../../stac/document.ts'
import type { Io } from '../io.ts'
import { jsonIn, readAtMost } from '../read-document.ts'

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
  const problems = own(report, 'problems')
  if (!Array.isArray(problems)) return invalid(name, 'its problems are not a list')
  const wrong = problems.findIndex((problem) => readProblem(problem) === undefined)
  if (wrong >= 0) return invalid(name, `problem ${wrong + 1} is malformed`)
  const summary = readSummary(own(report, 'summary')) ?? invalid(name, 'its summary is malformed')
  const known = problems.flatMap((problem) => readProblem(problem) ?? [])
  const few = COUNTS.find(([count, severity]) => summary[count] < known.filter((problem) => problem.severity === severity).length)
  if (few) return invalid(name, `its summary counts fewer ${few[0]} than it lists`)
  const shard =
    own(report, 'shard') === undefined ? undefined : (readShard(own(report, 'shard')) ?? invalid(name, 'its shard is malformed'))
  return { version: 1, problems: known, summary, ...(shard && { shard }) }
}

/** Counts to check: a quiet report lists fewer findings than it counts, no report lists more. */
const COUNTS = [
  ['errors', 'error'],
  ['warnings', 'warn'],
  ['infos', 'info'],
] as const

const TEXTS = ['rule', 'code', 'severity', 'message', 'document', 'id', 'pointer', 'fix', 'fingerprint'] as const
const NUMBERS = ['line', 'column', 'endLine', 'endColumn', 'count'] as const
const PLACE = ['document', 'id', 'pointer', 'line', 'column', 'endLine', 'endColumn'] as const
const DEFINITION = ['name', 'hash', 'document', 'pointer', 'level', 'id'] as const
const WORDS: Readonly<Record<string, RegExp>> = {
  rule: /^[a-z][a-z0-9-]*$/,
  code: /^[a-z][a-z0-9-]*$/,
  severity: /^(?:error|warn|info)$/,
  level: /^(?:error|warn|info|off)$/,
  pointer: /^(?:\/[^/]*)*$/,
  fix: /^(?:safe|suggestion)$/,
}

/** Validates a finding and drops unknown members; undefined if it is malformed. */
export function readProblem(value: unknown): Problem | undefined {
  const problem = readMembers(value, [...TEXTS, ...NUMBERS, 'places', 'cause'], ['rule', 'severity', 'message', 'pointer'])
  if (!problem) return undefined
  // Reports of older versions have no code.
  const { rule, code = rule, ...others } = problem
  return { rule, code, ...others } as unknown as Problem
}

/** Returns the members with these names, in their order; undefined if one is malformed or a required one is missing. */
function readMembers(value: unknown, names: readonly string[], needed: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(value)) return undefined
  const known = Object.keys(value).filter((name) => names.includes(name))
  if (!needed.every((name) => known.includes(name))) return undefined
  const members = known.map((name) => [name, readMember(name, value[name])] as const)
  return members.every(([, member]) => member !== undefined) ? Object.fromEntries(members) : undefined
}

function readMember(name: string, member: unknown): unknown {
  if (name === 'cause') return readPlace(member)
  if (name === 'places') {
    const places = Array.isArray(member) && member.length > 0 ? member.map(readPlace) : [undefined]
    return places.every((place) => place !== undefined) ? places : undefined
  }
  const isNumber = NUMBERS.some((known) => known === name)
  const isRight = isNumber ? isCount(member) && member > 0 : typeof member === 'string' && (WORDS[name]?.test(member) ?? true)
  return isRight ? member : undefined
}

function readPlace(value: unknown): unknown {
  return readMembers(value, PLACE, ['pointer'])
}

/** Validates the shard data of a report. */
function readShard(value: unknown): Shard | undefined {
  const [index, of, names, definitions] = ['index', 'of', 'names', 'definitions'].map((name) => own(value, name))
  if (!isCount(index) || !isCount(of) || !Array.isArray(names) || !names.every((name) => typeof name === 'string')) return undefined
  const [outerRefs, unsettled] = [own(value, 'outerRefs') ?? [], own(value, 'unsettled') ?? []]
  if (!Array.isArray(definitions) || !Array.isArray(outerRefs) || !Array.isArray(unsettled)) return undefined
  const known = definitions.map((definition) => readMembers(definition, DEFINITION, DEFINITION.slice(0, 5)))
  const problems = unsettled.flatMap((problem) => readProblem(problem) ?? [])
  if (problems.length < unsettled.length || !outerRefs.every((name) => typeof name === 'string')) return undefined
  const files = own(value, 'files') === undefined ? undefined : readFiles(own(value, 'files'))
  if (known.includes(undefined) || (own(value, 'files') !== undefined && !files)) return undefined
  const more = { definitions: known as unknown as readonly ShardDefinition[], outerRefs, unsettled: problems }
  return { index, of, names, ...more, ...(files && { files }) }
}

function readFiles(value: unknown): FileShard | undefined {
  const [inputs, pending] = [own(value, 'inputs'), own(value, 'pending')]
  if (!isObject(inputs) || !Object.values(inputs).every(isCount) || !Array.isArray(pending)) return undefined
  const known = pending.flatMap((one) => readPending(one) ?? [])
  const areNumbered = known.every(({ problem: { document = '' } }) => own(inputs, document) !== undefined)
  return known.length === pending.length && areNumbered ? { inputs: inputs as FileShard['inputs'], pending: known } : undefined
}

function readPending(value: unknown): Pending | undefined {
  const [block, problem, definition, known] = ['block', 'problem', 'definition', 'known'].map((member) => own(value, member))
  const read = readProblem(problem)
  if (!read || !isCount(block) || (known !== undefined && known !== true)) return undefined
  const texts = ['name', 'hash', 'where'].map((member) => own(definition, member))
  if (definition !== undefined && !texts.every((text) => typeof text === 'string')) return undefined
  const [name, hash, where] = texts as string[]
  const defined = name !== undefined && hash !== undefined && where !== undefined && { definition: { name, hash, where } }
  return { block, problem: read, ...defined, ...(known && { known }) }
}

/** Optional counts of a summary. */
const MORE = ['places', 'fixable', 'suggestions', 'baselined', 'unlisted', 'skipped'] as const

function readSummary(value: unknown): Summary | undefined {
  const incomplete = own(value, 'incomplete')
  if (!isObject(value) || !Array.isArray(incomplete) || !incomplete.every(isIncomplete)) return undefined
  const [documents, errors, warnings, infos] = ['documents', 'errors', 'warnings', 'infos'].map((name) => own(value, name))
  const more = MORE.filter((name) => own(value, name) !== undefined)
  if (![documents, errors, warnings, infos, ...more.map((name) => own(value, name))].every(isCount)) return undefined
  return {
    documents: Number(documents),
    errors: Number(errors),
    warnings: Number(warnings),
    infos: Number(infos),
    ...Object.fromEntries(more.map((name) => [name, Number(own(value, name))])),
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

function invalid(name: string, what: string): never {
  const hint = 'write reports with stac-auth lint --format json=FILE or --format ndjson=FILE'
  throw new ConfigurationError('CONFIG_INVALID', `"${name}" cannot be merged: ${what}`, { hint })
}
