/** The linter of the authentication extension: `lint` for parsed documents, `lintText` for texts with lines and columns. */
export { type LintOptions, lint } from './lint.ts'
export { LintRun } from './lint-run.ts'
export { lintText, type TextOptions } from './lint-text.ts'
export type { Level, Preset, Problem, Severity } from './problem.ts'
export type { Rule, RuleMeta } from './rule.ts'
export { rules } from './rules/index.ts'
export type { Levels } from './runner.ts'
