import { type Fields, jsonFields, type Values } from './fields.ts'
import { languageOf } from './languages.ts'
import { refuse } from './refuse.ts'
import type { Call, TranslationState } from './state.ts'

/** A list of style rules. */
export interface StyleList {
  readonly id: string
  name: string
  readonly language: string
  readonly createdAt: number
  updatedAt: number
  /** Grows with every change. */
  version: number
  rules: Rules
  instructions: readonly Instruction[]
}

/** Category, rule and option. */
export type Rules = Readonly<Record<string, Readonly<Record<string, string>>>>

/** A sentence that says how to translate. */
export interface Instruction {
  readonly id: string
  readonly label: string
  readonly prompt: string
  readonly source_language?: string
}

const CATEGORIES = ['dates_and_times', 'formatting', 'numbers', 'punctuation', 'spelling_and_grammar', 'style_and_tone', 'vocabulary']
const MOST_INSTRUCTIONS = 200

/** Fields of an instruction as it is sent. */
export const INSTRUCTION_FIELDS: Fields = {
  label: { type: 'string', required: true, longest: 100 },
  prompt: { type: 'string', required: true, longest: 300 },
  source_language: { type: 'string' },
}

export function styleOf({ state, request }: Call): StyleList {
  return state.styles.get(request.params.style_id ?? '') ?? refuse(404, 'Style rule list not found')
}

/** Notes that a list was changed. */
export function touch(list: StyleList, { clock }: TranslationState): void {
  list.version++
  list.updatedAt = clock.now()
}

/** An instruction with an identifier, new or kept. */
export function instructionOf(values: Values, id: string): Instruction {
  const { label, prompt, source_language } = values as unknown as Instruction
  if (source_language !== undefined && !languageOf(source_language)) refuse(400, "Value for 'source_language' not supported.")
  return { id, label, prompt, ...(source_language !== undefined && { source_language }) }
}

/** Instructions of a new list. */
export function readInstructions(values: readonly unknown[], { ids, settings }: TranslationState): readonly Instruction[] {
  checkCount(values.length)
  return values.map((value) =>
    instructionOf(jsonFields(value, INSTRUCTION_FIELDS, settings.allowExtra, 'custom_instructions.'), ids.uuid()),
  )
}

/** A list has 200 instructions at most. */
export function checkCount(count: number): void {
  if (count > MOST_INSTRUCTIONS) refuse(400, 'Too many custom instructions.')
}

/** Rules in their categories, each with one option. */
export function readRules(value: unknown): Rules {
  const rules = jsonFields(
    value,
    Object.fromEntries(CATEGORIES.map((name) => [name, { type: 'object' as const }])),
    false,
    'configured_rules.',
  )
  for (const category of Object.values(rules)) {
    for (const option of Object.values(category as object)) if (typeof option !== 'string') refuse(400, 'An option of a rule is no text.')
  }
  return rules as Rules
}
