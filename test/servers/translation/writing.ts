import { jsonReply, type Reply } from '../service/reply.ts'
import { requireCharacters } from './account.ts'
import { codePoints, type Fields } from './fields.ts'
import { baseOf } from './languages.ts'
import { readBody } from './read-body.ts'
import { refuse } from './refuse.ts'
import { reportingTag } from './reporting-tag.ts'
import { bill, type Call } from './state.ts'
import { detected } from './translate.ts'

const LARGEST = 10 * 1024
const TARGETS = new Set('de en en-gb en-us es fr it ja ko pt pt-br pt-pt zh zh-hans'.split(' '))
const CORRECT_FIELDS: Fields = { text: { type: 'strings', required: true }, target_lang: { type: 'string' } }
const REPHRASE_FIELDS: Fields = {
  ...CORRECT_FIELDS,
  writing_style: { type: 'string', values: withPreferred(['academic', 'business', 'casual', 'simple']) },
  tone: { type: 'string', values: withPreferred(['confident', 'diplomatic', 'enthusiastic', 'friendly']) },
}

interface WritingValues {
  readonly text: readonly string[]
  readonly target_lang?: string
  readonly writing_style?: string
  readonly tone?: string
}

/** Operation 26: `<text> (<style or tone>)`. */
export function rephrase(call: Call): Reply {
  const values = readWriting(call, REPHRASE_FIELDS)
  const { writing_style: style = 'default', tone = 'default' } = values
  if (style !== 'default' && tone !== 'default') refuse(400, "'writing_style' and 'tone' exclude each other.")
  return improved(call, values, (text) => `${text} (${style === 'default' ? tone : style})`)
}

/** Operation 27: doubled blanks become one. */
export function correct(call: Call): Reply {
  return improved(call, readWriting(call, CORRECT_FIELDS), (text) => text.replaceAll(/ {2,}/g, ' '))
}

function readWriting(call: Call, fields: Fields): WritingValues {
  if (call.request.body.length > LARGEST) refuse(413, 'Request size exceeds the limit.')
  const values = readBody(call, fields) as unknown as WritingValues
  const { text, target_lang: target } = values
  if (text.length === 0) refuse(400, "Parameter 'text' not specified.")
  if (target !== undefined && !TARGETS.has(target.toLowerCase())) refuse(400, "Value for 'target_lang' not supported.")
  return values
}

function improved(call: Call, { text, target_lang: target }: WritingValues, improve: (text: string) => string): Reply {
  const improvements = text.map((item) => {
    // What names no language of its own is taken to be in the language that is asked for.
    const source = target !== undefined && !/^[a-z]{2}:/i.test(item) ? baseOf(target) : detected(item).toLowerCase()
    if (target !== undefined && baseOf(target) !== source) refuse(400, 'The text is in another language than the target.')
    return { text: improve(item), target_language: target ?? source, detected_source_language: source }
  })
  const tag = reportingTag(call)
  const characters = text.reduce((sum, item) => sum + codePoints(item), 0)
  requireCharacters(call.key, characters)
  bill(call, 'text_improvement', characters, tag)
  return jsonReply(200, { improvements })
}

function withPreferred(values: readonly string[]): readonly string[] {
  return ['default', ...values, ...values.map((value) => `prefer_${value}`)]
}
