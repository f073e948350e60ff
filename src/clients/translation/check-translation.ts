/** What the service would refuse of the choices for a translation. */
import { ValidationError } from '../errors.ts'
import type { TranslateParams } from './translate-params.ts'
import type { Validation } from './translation-options.ts'

const MOST_INSTRUCTIONS = 10
const LONGEST_INSTRUCTION = 300
const MOST_GLOSSARIES = 5
/** Languages that take custom instructions, with all their variants. */
const INSTRUCTED = new Set(['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'zh'])

/** Refuses what the service would refuse. Errors: `REQUEST_INVALID`; `TypeError` for a target that is no text. */
export function checkTranslation(params: Partial<TranslateParams>, validation: Validation): void {
  const { target_lang: target, source_lang: source, custom_instructions: instructions } = params
  if (typeof target !== 'string') throw new TypeError('target_lang is a text: "DE"')
  if (instructions && !isTexts(instructions)) throw new TypeError('custom_instructions is a list of texts')
  if (validation === 'off') return
  if (target === '') throw refused('target_lang', 'target_lang is empty')
  const hasGlossary = params.glossary_id !== undefined || params.glossary_ids !== undefined
  if (hasGlossary && source === undefined) throw refused('source_lang', 'a glossary needs source_lang')
  if (instructions) checkInstructions(instructions, target)
  if (validation === 'strict') checkPublic(params)
}

/** A list of texts that is not empty. Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE`; `TypeError` for anything else. */
export function checkTexts(texts: readonly string[], most: number, validation: Validation): void {
  if (!isTexts(texts)) throw new TypeError('text is a text or a list of texts')
  if (validation === 'off') return
  if (texts.length === 0) throw refused('text', 'there is no text')
  if (validation === 'strict' && texts.length > most) {
    const hint = 'use translateMany, which makes several requests of them'
    const message = `a request has at most ${most} texts, these are ${texts.length}; nothing was sent`
    throw new ValidationError('REQUEST_TOO_LARGE', message, { field: 'text', limit: most, hint })
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function checkInstructions(instructions: readonly string[], target: string): void {
  if (instructions.length > MOST_INSTRUCTIONS)
    throw refused('custom_instructions', `there are at most ${MOST_INSTRUCTIONS} custom instructions`, MOST_INSTRUCTIONS)
  const long = instructions.findIndex((text) => text.length > LONGEST_INSTRUCTION && [...text].length > LONGEST_INSTRUCTION)
  if (long >= 0) {
    const why = `a custom instruction has at most ${LONGEST_INSTRUCTION} characters`
    throw refused(`custom_instructions[${long}]`, why, LONGEST_INSTRUCTION)
  }
  const [base = ''] = target.toLowerCase().split('-')
  if (instructions.length > 0 && !INSTRUCTED.has(base)) throw refused('target_lang', `custom instructions are not for ${target}`)
}

/** What only the public description of the service says. */
function checkPublic({ glossary_id, glossary_ids, translation_memory_threshold: threshold }: Partial<TranslateParams>): void {
  if (glossary_id !== undefined && glossary_ids !== undefined)
    throw refused('glossary_ids', 'glossary_id and glossary_ids exclude each other')
  if (glossary_ids && glossary_ids.length > MOST_GLOSSARIES)
    throw refused('glossary_ids', `there are at most ${MOST_GLOSSARIES} glossaries`, MOST_GLOSSARIES)
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 100))
    throw refused('translation_memory_threshold', 'the threshold is a number from 0 to 100', 100)
}

function refused(field: string, why: string, limit?: number): ValidationError {
  return new ValidationError('REQUEST_INVALID', `${why}; nothing was sent`, { field, ...(limit !== undefined && { limit }) })
}
