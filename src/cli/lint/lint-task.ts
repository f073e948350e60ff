/** Lints one task: what it is, and how many documents it has, is read from the parsed value that is linted. */
import { lint, lintParsed, parseText, type TextOptions } from '../../lint/lint.ts'
import type { Problem } from '../../lint/problem.ts'
import { claimsStac, isObject, kindOf, own, wrappedMember } from '../../stac/document.ts'
import type { Task } from '../inputs/pieces.ts'

/** Options of a task. */
export interface TaskOptions extends TextOptions {
  /** True for a file of a folder or glob, which is not linted unless it is STAC. */
  readonly mayBeForeign?: boolean
}

/** The findings of a task. */
export interface TaskResult {
  /** Pointers and lines are those of the task. */
  readonly problems: readonly Problem[]
  /** Items, Collections and Catalogs in it; at least 1. */
  readonly documents: number
  /** True for a file that is not STAC; it has no findings. */
  readonly isForeign?: boolean
}

/** Lints a task, whose text is parsed once. */
export function lintTask({ text, value, line, url, parents }: Task, { mayBeForeign = false, ...about }: TaskOptions): TaskResult {
  const options = { ...about, ...(url !== undefined && { url }), ...(parents && { parents }), ...(line !== undefined && { line }) }
  if (text === undefined) return mayBeForeign && !claimsStac(value) ? FOREIGN : { problems: lint(value, options), documents: 1 }
  const read = parseText(text, options)
  if (!('text' in read)) return mayBeForeign && isForeignText(text) ? FOREIGN : { ...read, documents: 1 }
  if (mayBeForeign && !claimsStac(read.document)) return FOREIGN
  return { problems: lintParsed(read, options), documents: countIn(read.document) }
}

const FOREIGN: TaskResult = { problems: [], documents: 1, isForeign: true }

function countIn(value: unknown): number {
  return Math.max(1, Array.isArray(value) ? value.reduce((sum, inner) => sum + countOf(inner), 0) : countOf(value))
}

function countOf(value: unknown): number {
  if (!isObject(value) || kindOf(value) !== 'wrapper') return 1
  const inner = own(value, wrappedMember(value))
  return Array.isArray(inner) ? inner.length : 1
}

/**
 * Returns true for a text that the linter does not read and that is not STAC. Malformed JSON is linted, because it may be a damaged
 * document, unless it is JSON with comments.
 */
function isForeignText(source: string | Uint8Array): boolean {
  const text = typeof source === 'string' ? source : new TextDecoder().decode(source)
  for (const convert of [String, withoutComments]) {
    try {
      return !claimsStac(JSON.parse(convert(text).replace(/^\ufeff/, '')))
    } catch {
      // The other one may be JSON. Patterns cannot match strings of many megabytes.
    }
  }
  return false
}

/** A string or a comment; one that does not end extends to the end of the text, so that it is searched only once. */
const STRING_OR_COMMENT = /("[^"\\]*(?:\\.[^"\\]*)*"?)|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(\/\*[\s\S]*)/g

const STRING_OR_COMMA = /("[^"\\]*(?:\\.[^"\\]*)*"?)|,(?=\s*[}\]])/g

/** Removes comments and trailing commas, as in settings of editors and compilers. */
function withoutComments(text: string): string {
  return text.replace(STRING_OR_COMMENT, '$1$2').replace(STRING_OR_COMMA, '$1')
}
