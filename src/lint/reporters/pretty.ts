/** The report for people, with the lines of the findings. */
import type { Problem, Severity } from '../problem.ts'
import { hasPassword, isSecret, looksSecret, secretParameter } from '../secrets.ts'
import { escapeLine, groupsOf, messageOf, type Report, type ReportOptions, totals, worst } from './report.ts'

const COLOURS: Readonly<Record<Severity | 'dim' | 'bold', number>> = { error: 31, warn: 33, info: 36, dim: 2, bold: 1 }

/** Returns the findings under the names of their documents, then one line with the totals. All text of documents is escaped. */
export function pretty({ problems, summary }: Report, { color = false, texts, limit = 100 }: ReportOptions = {}): string {
  const paint: Paint = (style, text) => (color ? `\u001b[${COLOURS[style]}m${text}\u001b[0m` : text)
  const hasSecret = remembered(hasSecretLine)
  const lines: string[] = []
  let document: string | undefined
  const shown = worst(problems, limit)
  for (const problem of shown) {
    if (problem.document !== document || lines.length === 0) lines.push('', paint('bold', escapeLine(problem.document ?? 'document')))
    document = problem.document
    lines.push(head(problem, paint))
    lines.push(...frame(problem, texts?.get(document ?? ''), paint, hasSecret))
  }
  const more = problems.length - shown.length + (summary.unlisted ?? 0)
  if (more > 0) {
    const listed = new Set(shown)
    const others = problems.filter((problem) => !listed.has(problem))
    lines.push(...rest(others, more, paint))
  }
  return `${[...lines, '', totals(summary)].join('\n').trimStart()}\n`
}

type Paint = (style: keyof typeof COLOURS, text: string) => string

function head(problem: Problem, paint: Paint): string {
  const { severity, line, column, pointer, code } = problem
  const place = line === undefined ? '' : `${line}:${column} `
  return `  ${place}${paint(severity, severity)}  ${escapeLine(messageOf(problem))}  ${paint('dim', `${escapeLine(code)} ${escapeLine(pointer)}`.trimEnd())}`
}

/** Returns the first line of the finding with markers below it; empty if there is no text, or it must not be shown. */
function frame(
  { code, line, column, endLine, endColumn }: Problem,
  text: string | undefined,
  paint: Paint,
  hasSecret: SecretTest,
): string[] {
  // Text that is not JSON may be an HTML page with a token in it.
  if (text === undefined || line === undefined || column === undefined || code === 'not-json') return []
  const written = text.split('\n', line)[line - 1]?.replace(/\r$/, '') ?? ''
  if (hasSecret(written)) return []
  // A tab is as wide as a space, so that the markers stay below the finding.
  const source = written.replaceAll('\t', ' ')
  // Long lines are cut around the finding, so that it stays visible.
  const from = Math.max(0, column - 1 - CONTEXT)
  const end = endLine === line ? (endColumn ?? column + 1) - 1 : source.length
  const before = escapeLine(source.slice(from, column - 1))
  const meant = escapeLine(source.slice(column - 1, Math.min(end, column - 1 + WIDTH)))
  const after = escapeLine(source.slice(end, from + WIDTH))
  const number = `${line}`
  return [
    `    ${paint('dim', `${number} |`)} ${before}${meant}${after}`,
    `    ${' '.repeat(number.length)} ${paint('dim', '|')} ${' '.repeat(before.length)}${paint('error', '^'.repeat(Math.max(1, meant.length)))}`,
  ]
}

type SecretTest = (line: string) => boolean

/** Findings are in the order of their lines, and a line may be a whole document, so each line is read once. */
function remembered(hasSecret: SecretTest): SecretTest {
  let last: { readonly line: string; readonly hasSecret: boolean } | undefined
  return (line) => {
    if (last?.line !== line) last = { line, hasSecret: hasSecret(line) }
    return last.hasSecret
  }
}

const CONTEXT = 40

const WIDTH = 100

/** Findings with the same text, shown as one line. */
function rest(problems: readonly Problem[], count: number, paint: Paint): readonly string[] {
  const groups = groupsOf(problems)
  const lines = groups
    .slice(0, GROUPS)
    .map(
      ({ code, severity, message, count: times }) =>
        `  ${times} × ${paint(severity, severity)}  ${escapeLine(message)}  ${paint('dim', escapeLine(code))}`,
    )
  const more = groups.length > GROUPS ? [`  … and ${groups.length - GROUPS} other kinds`] : []
  return ['', `… and ${count} more`, ...lines, ...more]
}

const GROUPS = 20

/** A string of JSON, and the string that is its value when it is a name. */
const STRINGS = /("(?:[^"\\]|\\.)*")(?:\s*:\s*("(?:[^"\\]|\\.)*"))?/g

/** Maximum length of a line that is searched; patterns cannot match strings of many megabytes. */
const LONGEST = 2 ** 20

/**
 * True for a line that is too long to be searched, and when a string in the line of a JSON text is or contains a secret. Whether
 * a rule reported it does not matter: the rule may be off, in the baseline, or below the level that is shown.
 */
export function hasSecretLine(line: string): boolean {
  if (line.length > LONGEST) return true
  for (const [, first = '', second] of line.matchAll(STRINGS)) {
    const name = second === undefined ? '' : read(first)
    const value = read(second ?? first)
    if (isSecret(name, value) || looksSecret(name) || hasPassword(value) || secretParameter(value) !== undefined) return true
  }
  return false
}

/** Returns the value of a JSON string; a text that cannot be parsed is returned unchanged. */
function read(literal: string): string {
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal
  }
}
