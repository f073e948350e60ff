/** The report for people, with the lines that are meant. */
import { forLine as inert } from '../../text/sanitize.ts'
import type { Problem, Severity } from '../problem.ts'
import type { Report } from './report.ts'

export interface PrettyOptions {
  /** Escapes for colours; default false. */
  readonly color?: boolean
  /** Texts by document name, for code frames. */
  readonly texts?: ReadonlyMap<string, string>
  /** Findings shown; the summary counts all. Default 100. */
  readonly limit?: number
}

const COLOURS: Readonly<Record<Severity | 'dim' | 'bold', number>> = { error: 31, warn: 33, info: 36, dim: 2, bold: 1 }

/** The findings under the names of their documents, then one line with the totals. All text of documents is made inert. */
export function pretty({ problems, summary }: Report, { color = false, texts, limit = 100 }: PrettyOptions = {}): string {
  const paint: Paint = (style, text) => (color ? `\u001b[${COLOURS[style]}m${text}\u001b[0m` : text)
  const lines: string[] = []
  let document: string | undefined
  for (const problem of problems.slice(0, limit)) {
    if (problem.document !== document || lines.length === 0) lines.push('', paint('bold', inert(problem.document ?? 'document')))
    document = problem.document
    lines.push(head(problem, paint))
    if (!isTelling(problem, problems)) lines.push(...frame(problem, texts?.get(document ?? ''), paint))
  }
  if (problems.length > limit) lines.push('', `… and ${problems.length - limit} more`)
  return `${[...lines, '', total(summary)].join('\n').trimStart()}\n`
}

type Paint = (style: keyof typeof COLOURS, text: string) => string

function head({ severity, line, column, pointer, message, rule }: Problem, paint: Paint): string {
  const place = line === undefined ? '' : `${line}:${column} `
  return `  ${place}${paint(severity, severity)}  ${inert(message)}  ${paint('dim', `${inert(rule)} ${inert(pointer)}`.trimEnd())}`
}

/** True when the line holds a secret that another finding is about: then it is not shown. */
function isTelling({ document, line = 0 }: Problem, problems: readonly Problem[]): boolean {
  return problems.some(
    (other) => SECRET.has(other.rule) && other.document === document && (other.line ?? 0) <= line && line <= (other.endLine ?? 0),
  )
}

const SECRET = new Set(['secret-in-document', 'signed-href'])

/** The first line of the place, with marks below it. */
function frame({ line, column, endLine, endColumn }: Problem, text: string | undefined, paint: Paint): string[] {
  if (text === undefined || line === undefined || column === undefined) return []
  const source = text.split('\n', line)[line - 1]?.replace(/\r$/, '') ?? ''
  // Long lines are cut around the place, so that it stays in view.
  const from = Math.max(0, column - 1 - CONTEXT)
  const end = endLine === line ? (endColumn ?? column + 1) - 1 : source.length
  const before = inert(source.slice(from, column - 1))
  const meant = inert(source.slice(column - 1, Math.min(end, column - 1 + WIDTH)))
  const after = inert(source.slice(end, from + WIDTH))
  const number = `${line}`
  return [
    `    ${paint('dim', `${number} |`)} ${before}${meant}${after}`,
    `    ${' '.repeat(number.length)} ${paint('dim', '|')} ${' '.repeat(before.length)}${paint('error', '^'.repeat(Math.max(1, meant.length)))}`,
  ]
}

const CONTEXT = 40
const WIDTH = 100

function total({ documents, errors, warnings, infos, incomplete }: Report['summary']): string {
  const left = incomplete.length > 0 ? `, ${incomplete.length} not read` : ''
  return `${plural(documents, 'document')}: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}, ${plural(infos, 'info')}${left}`
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
