import type { Severity } from '../problem.ts'
import type { Report } from './report.ts'
import { escapeJson, messageOf } from './report.ts'

const SEVERITIES: Readonly<Record<Severity, string>> = { error: 'major', warn: 'minor', info: 'info' }

/** A Code Quality report of GitLab: a list of findings, each with a fingerprint that stays the same when other lines move. */
export function gitlab({ problems }: Report): string {
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
      location: { path: document.replace(/^\.\//, ''), lines: { begin: line } },
    }
  })
  return `${escapeJson(findings, 2)}\n`
}
