/** Findings of rules that no document alone breaks. */
import type { Level, Problem, Severity, TextOptions } from '../../lint/index.ts'
import { caseOf, levelOfCode } from '../../lint/levels.ts'
import type { LintSettings } from '../lint/lint-run.ts'

/** The rules that no document alone breaks. */
type RunRule = 'unreachable' | 'self-mismatch' | 'conflicting-scheme' | 's3-public-bucket'

/** The level of such a rule for a document. */
export function levelOf(rule: RunRule, document: string, { levels }: LintSettings): Level {
  return levelOfCode(rule, levels.preset, levels.levelsFor(document))
}

/** The finding of a rule that no document alone breaks, at the level that is asked for. */
export function runFinding(
  rule: RunRule,
  data: Readonly<Record<string, string>>,
  place: Pick<Problem, 'document' | 'id' | 'pointer'>,
  settings: LintSettings,
): readonly Problem[] {
  const severity = levelOf(rule, place.document ?? '', settings)
  return severity === 'off' ? [] : [findingOf(rule, severity, data, place, settings.complete)]
}

/** The same at a level that is known. */
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
