import { jsonReply, type Reply } from '../service/reply.ts'
import { requireCharacters } from './account.ts'
import { checkChoices, checkInstructions } from './choices.ts'
import { codePoints } from './fields.ts'
import type { Dictionary } from './glossary-store.ts'
import { readBody } from './read-body.ts'
import { refuse } from './refuse.ts'
import { reportingTag } from './reporting-tag.ts'
import { bill, type Call } from './state.ts'
import { TRANSLATE_FIELDS, type TranslateValues } from './translate-fields.ts'
import { xmlProblem } from './xml-problem.ts'

const LARGEST = 131_072
const MOST_TEXTS = 50

/** Operation 8: `[<target>] <text>` for every text, in order. */
export function translate(call: Call): Reply {
  const { request, key, state } = call
  if (request.body.length > LARGEST) refuse(413, 'Request size exceeds the limit.')
  const values = readBody(call, TRANSLATE_FIELDS) as unknown as TranslateValues
  checkTexts(values)
  const dictionaries = checkChoices(state, values)
  if (values.custom_instructions) checkInstructions(values.custom_instructions, values.target_lang)
  const tag = reportingTag(call)
  let characters = 0
  for (const text of values.text) characters += codePoints(text)
  requireCharacters(key, characters)
  bill(call, 'text_translation', characters, tag)
  return jsonReply(200, { translations: values.text.map((text) => translation(text, values, dictionaries)) })
}

/** The language that a text begins with, as in `de: Hallo`; English for all others. */
export function detected(text: string): string {
  return /^([a-z]{2}):/i.exec(text)?.[1]?.toUpperCase() ?? 'EN'
}

function translatedText(text: string, target: string, dictionaries: readonly Dictionary[]): string {
  let result = text
  for (const { entries } of dictionaries) for (const [source, term] of entries) result = result.replaceAll(source, () => term)
  return `[${target}] ${result}`
}

function checkTexts({ text, tag_handling: handling, tag_handling_version: version }: TranslateValues): void {
  if (text.length === 0) refuse(400, "Parameter 'text' not specified.")
  if (text.length > MOST_TEXTS) refuse(400, 'Too many texts in one request.')
  if (handling !== 'xml' || version !== 'v2') return
  for (const item of text) {
    const problem = xmlProblem(item)
    if (problem) refuse(400, `Tag handling parsing failed: ${problem}.`)
  }
}

function translation(text: string, values: TranslateValues, dictionaries: readonly Dictionary[]): unknown {
  const { source_lang, target_lang, model_type, tag_handling } = values
  return {
    detected_source_language: source_lang ?? detected(text),
    text: translatedText(text, target_lang, dictionaries),
    ...(values.show_billed_characters && { billed_characters: codePoints(text) }),
    ...(model_type && { model_type_used: model_type === 'latency_optimized' ? model_type : 'quality_optimized' }),
    ...(tag_handling && { tag_handling_version: values.tag_handling_version ?? 'v1' }),
  }
}
