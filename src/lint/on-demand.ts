/** The linter for web pages: initially it loads only the check whether a document needs the rules. */
import { declarationsOf, isObject, kindOf } from '../stac/document.ts'
import type { LintOptions } from './lint.ts'
import type { Problem } from './problem.ts'
import { isSilent, partsOf, survey } from './survey.ts'

/**
 * Returns the same as `lint`. Schemas and rules are loaded with the first document that uses or declares the extension,
 * or is not a STAC document; most documents need neither.
 *
 * Rejects only when they cannot be loaded, with the error of the platform.
 *
 * @example const problems = await lintOnDemand(item)
 */
export async function lintOnDemand(document: unknown, options: LintOptions = {}): Promise<Problem[]> {
  return needsRules(document) ? (await import('./lint.ts')).lint(document, options) : []
}

function needsRules(document: unknown): boolean {
  return partsOf(document).some((part) => {
    const { value } = part
    const counted = survey(value, part)
    return counted.tooDeep !== undefined || !isObject(value) || kindOf(value) === 'unknown' || !isSilent(counted, declarationsOf(value))
  })
}
