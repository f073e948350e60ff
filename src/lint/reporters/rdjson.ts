import type { Problem, Severity } from '../problem.ts'
import type { Report, ReportOptions } from './report.ts'
import { escapeJson, messageOf, unreadBesides } from './report.ts'

const SEVERITIES: Readonly<Record<Severity, string>> = { error: 'ERROR', warn: 'WARNING', info: 'INFO' }

/**
 * The diagnostic format of reviewdog, with inputs that could not be read. It counts columns in UTF-8 bytes, so they are present only if the
 * text is known.
 */
export function rdjson(report: Report, { texts }: ReportOptions = {}): string {
  const unread = unreadBesides(report).map(({ url, code, message = `${url}: could not be read` }) => ({
    message,
    location: { path: url },
    severity: SEVERITIES.error,
    code: { value: code },
  }))
  const findings = report.problems.map((problem) => ({
    message: messageOf(problem),
    location: { path: problem.document ?? 'document', ...rangeOf(problem, texts?.get(problem.document ?? '')) },
    severity: SEVERITIES[problem.severity],
    code: { value: problem.code },
  }))
  return `${escapeJson({ source: { name: 'stac-auth' }, diagnostics: [...findings, ...unread] }, 2)}\n`
}

function rangeOf({ line, column, endLine, endColumn }: Problem, text: string | undefined): object {
  if (line === undefined) return {}
  const lines = text?.split('\n', endLine ?? line)
  if (!lines || column === undefined || endLine === undefined || endColumn === undefined) return { range: { start: { line } } }
  const place = (at: number, units: number) => ({ line: at, column: bytes((lines[at - 1] ?? '').slice(0, units - 1)) + 1 })
  return { range: { start: place(line, column), end: place(endLine, endColumn) } }
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length
}
