/** The linter of the authentication extension: `lint` for parsed documents, `lintText` for texts with lines and columns. */
export type { Levels } from './config.ts'
export { type LintOptions, lint, lintText, type TextOptions } from './lint.ts'
export { LintRun, type LintRunOptions } from './lint-run.ts'
export type { Cause, Level, Place, Preset, Problem, Severity } from './problem.ts'
export type { CaseMeta, Rule, RuleCase, RuleMeta } from './rule.ts'
export { rules } from './rules/index.ts'
