/** Exports of `stac-auth/lint`: the linter of the authentication extension, and the fixes of its findings. */
export { type FixOptions, fixText } from './fix/fix-text.ts'
export { type LintOptions, lint, lintText, type TextOptions } from './lint.ts'
export { LintRun } from './lint-run.ts'
export { lintOnDemand } from './on-demand.ts'
export type { Problem, Severity } from './problem.ts'
export type { Rule } from './rule.ts'
export { rules } from './rules/index.ts'
