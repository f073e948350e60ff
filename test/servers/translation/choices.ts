import { codePoints } from './fields.ts'
import type { Dictionary } from './glossary-store.ts'
import { baseOf, languageOf } from './languages.ts'
import { refuse } from './refuse.ts'
import type { TranslationState } from './state.ts'
import type { TranslationChoices } from './translate-fields.ts'

const INSTRUCTED = new Set(['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'zh'])

/** Checks what both kinds of translation may choose, and gives the dictionaries that serve the pair. */
export function checkChoices(state: TranslationState, values: TranslationChoices): readonly Dictionary[] {
  const { target_lang: target, source_lang: source, formality } = values
  const language = languageOf(target)
  if (!language?.target) refuse(400, "Value for 'target_lang' not supported.")
  if (source !== undefined && !languageOf(source)?.source) refuse(400, "Value for 'source_lang' not supported.")
  if ((formality === 'more' || formality === 'less') && !language?.formality)
    refuse(400, `'formality' is not supported for target ${target}.`)
  if (values.style_id !== undefined) checkStyle(state, values.style_id, target)
  checkMemory(state, values)
  return chosenGlossaries(values).flatMap((id) => dictionaryFor(state, id, source, target))
}

/** Custom instructions are few, short and for some targets only. */
export function checkInstructions(instructions: readonly string[], target: string): void {
  if (instructions.length > 10) refuse(400, 'Too many custom instructions.')
  if (instructions.some((text) => codePoints(text) > 300)) refuse(400, 'A custom instruction is too long.')
  if (!INSTRUCTED.has(baseOf(target))) refuse(400, `'custom_instructions' is not supported for target ${target}.`)
}

function chosenGlossaries({ glossary_id: one, glossary_ids: many }: TranslationChoices): readonly string[] {
  if (one !== undefined && many !== undefined) refuse(400, "'glossary_id' and 'glossary_ids' exclude each other.")
  if (many && (many.length === 0 || many.length > 5)) refuse(400, "'glossary_ids' takes 1 to 5 identifiers.")
  return one === undefined ? (many ?? []) : [one]
}

function dictionaryFor(state: TranslationState, id: string, source: string | undefined, target: string): Dictionary {
  if (source === undefined) return refuse(400, "Value for 'source_lang' is missing: a glossary needs it.")
  const glossary = state.glossaries.get(id) ?? refuse(404, 'Glossary not found')
  const fits = ({ source_lang, target_lang }: Dictionary) => source_lang === baseOf(source) && target_lang === baseOf(target)
  return glossary.dictionaries.find(fits) ?? refuse(400, 'The glossary has no dictionary for this pair of languages.')
}

function checkStyle(state: TranslationState, id: string, target: string): void {
  const list = state.styles.get(id) ?? refuse(404, 'Style rule list not found')
  if (list.language !== baseOf(target)) refuse(400, 'The style rule list is for another language.')
}

function checkMemory(
  state: TranslationState,
  { translation_memory_id: id, translation_memory_threshold: threshold }: TranslationChoices,
): void {
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 100)) refuse(400, "'translation_memory_threshold' is not in 0 to 100.")
  if (id === undefined) return
  if (!state.memories.some(({ translation_memory_id }) => translation_memory_id === id)) refuse(404, 'Translation memory not found')
}
