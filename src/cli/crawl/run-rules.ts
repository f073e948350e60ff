/** Findings of rules that need more than one document. */

import { caseOf, levelOfCode } from '../../lint/config.ts'
import type { Level, Problem, Severity, TextOptions } from '../../lint/index.ts'
import type { LintSettings } from '../lint/lint-run.ts'

/** The rules that need more than one document. */
type RunRule = 'unreachable' | 'self-mismatch' | 'conflicting-scheme' | 's3-public-bucket'

/** Returns the level of such a rule for a document. */
export function levelOf(rule: RunRule, document: string, { levels }: LintSettings): Level {
  return levelOfCode(rule, levels.preset, levels.levelsFor(document))
}

/** Returns the finding of such a rule at its configured level, or none if it is off. */
export function runFinding(
  rule: RunRule,
  data: Readonly<Record<string, string>>,
  place: Pick<Problem, 'document' | 'id' | 'pointer'>,
  settings: LintSettings,
): readonly Problem[] {
  const severity = levelOf(rule, place.document ?? '', settings)
  return severity === 'off' ? [] : [findingOf(rule, severity, data, place, settings.complete)]
}

/** Returns the finding of such a rule at a given level. */
export function findingOf(
  rule: RunRule,
  severity: Severity,
  data: Readonly<Record<string, string>>,
  place: Pick<Problem, 'document' | 'id' | 'pointer'>,
  complete: TextOptions['complete'],
): Problem {
  const [template = ''] = Object.values(caseOf(rule)?.[1].meta.messages ?? {})
  const message = template.replace(/\{(\w+)\}/g, (_, name: string) => data[name] ?? '')
  const problem: Problem = { rule, code: rule, severity, message, ...place }
  return complete ? complete(problem, { document: undefined, at: '', near: undefined }) : problem
}
