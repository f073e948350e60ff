import type { Severity } from '../problem.ts'
import type { Report } from './report.ts'
import { escapeJson, messageOf, unreadBesides } from './report.ts'

const SEVERITIES: Readonly<Record<Severity, string>> = { error: 'major', warn: 'minor', info: 'info' }

/**
 * A Code Quality report of GitLab: a list of findings and of inputs that could not be read, each with a fingerprint that stays the same
 * when other lines move.
 */
export function gitlab(report: Report): string {
  const { problems } = report
  const seen = new Map<string, number>()
  const findings = problems.map((problem) => {
    const { code, severity, document = 'document', pointer, line = 1, fingerprint } = problem
    const name = fingerprint ?? `${code} ${document} ${pointer}`
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return {
      type: 'issue',
      check_name: code,
      description: messageOf(problem),
      fingerprint: count === 1 ? name : `${name} ${count}`,
      severity: SEVERITIES[severity],
      location: { path: pathOf(document), lines: { begin: line } },
    }
  })
  const unread = unreadBesides(report).map(({ url, code, message = `${url}: could not be read` }) => ({
    type: 'issue',
    check_name: code,
    description: message,
    fingerprint: `${code} ${url}`,
    severity: 'blocker',
    location: { path: pathOf(url), lines: { begin: 1 } },
  }))
  return `${escapeJson([...findings, ...unread], 2)}\n`
}

function pathOf(document: string): string {
  return document.replace(/^\.\//, '')
}
