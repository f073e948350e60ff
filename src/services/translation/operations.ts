/** The operations of the translation service as data, one row each, and the checks of what is sent against them. */
import { utf8Length } from '../../text/utf8-length.ts'
import { ValidationError } from '../client/errors.ts'
import { encodeForm } from '../client/form.ts'
import type { FormMembers, Operation } from '../client/request.ts'
import type { TranslationCallOptions, Validation } from './translation-service.ts'

/** The key that an operation needs: with that scope, of an administrator, without scopes, or any. */
export type Right = 'any' | 'admin' | 'unscoped' | `${string}:${string}`

export type Member = 'record' | 'list' | 'text' | 'number'

/**
 * The limits of a member: of a text in characters (code points) or bytes of UTF-8, of a list in items, or of a whole number. `documented`
 * ones are in the interface document, the others only in the public documentation of the service.
 */
interface Size {
  readonly unit: 'characters' | 'bytes' | 'items' | 'number'
  readonly least?: number
  readonly most: number
  readonly documented?: true
  /** The code for more than `most`; default `REQUEST_TOO_LARGE`. */
  readonly code?: 'REQUEST_INVALID'
  readonly hint?: string
}

/** A rule about several members, or about the content of one; `problem` returns why a request breaks it. */
interface Rule {
  readonly field: string
  readonly documented?: true
  readonly limit?: number
  problem(members: FormMembers): string | undefined | false
}

/** One operation, as the service documents it. */
export interface TranslationOperation extends Operation {
  /** Its number in the reference of the service. */
  readonly number: number
  readonly right: Right
  /** The content of a successful response; `nothing` for an empty one. */
  readonly answer: 'record' | 'list' | 'nothing' | 'text' | 'stream'
  /** Required members of the record, with their types. */
  readonly members?: Readonly<Record<string, Member>>
  /** Required members of each record in these lists. */
  readonly elements?: Readonly<Record<string, Member>>
  /** Names of the query parameters; without them the argument of the method is the body. */
  readonly query?: readonly string[]
  /** Members that must be strings or lists of strings whatever is to be checked; `?` for optional ones. */
  readonly types?: Readonly<Record<string, 'text' | 'texts' | 'texts?'>>
  /** Limits of members of the query or body; `a.b` is a member of a member, `[]` stands for each element of a list. */
  readonly sizes?: Readonly<Record<string, Size>>
  readonly rules?: readonly Rule[]
  /** Limit of the whole body in bytes. */
  readonly largest?: Pick<Size, 'most' | 'documented' | 'hint'>
  /** True when the body may be sent as a form. */
  readonly form?: true
  readonly stability?: 'alpha' | 'closed alpha' | 'deprecated'
}

type Row = readonly [number: number, request: `${Operation['method']} /${string}`, replay: Operation['replay'], right: Right, more?: More]
type More = Partial<Omit<TranslationOperation, 'number' | 'name' | 'method' | 'path' | 'replay' | 'right'>>

const characters = (most: number): Size => ({ unit: 'characters', most })
const items = (most: number): Size => ({ unit: 'items', most })

/** Languages that support custom instructions, with all their variants. */
const INSTRUCTED = new Set(['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'zh'])

const HAS_TEXT: Rule = {
  field: 'text',
  documented: true,
  problem: ({ text }) => (text as readonly string[]).length === 0 && 'text is empty',
}

const TRANSLATION_RULES: readonly Rule[] = [
  HAS_TEXT,
  { field: 'target_lang', documented: true, problem: ({ target_lang }) => target_lang === '' && 'target_lang is empty' },
  {
    field: 'source_lang',
    documented: true,
    problem: ({ glossary_id, glossary_ids, source_lang }) =>
      (glossary_id ?? glossary_ids) !== undefined && source_lang === undefined && 'a glossary needs source_lang',
  },
  {
    field: 'target_lang',
    documented: true,
    problem: ({ custom_instructions: list, target_lang }) =>
      Array.isArray(list) &&
      list.length > 0 &&
      !INSTRUCTED.has(/^[^-]*/.exec(String(target_lang).toLowerCase())?.[0] ?? '') &&
      `custom instructions are not supported for ${target_lang}`,
  },
  {
    field: 'glossary_ids',
    problem: ({ glossary_id, glossary_ids }) =>
      glossary_id !== undefined && glossary_ids !== undefined && 'glossary_id and glossary_ids cannot be used together',
  },
  {
    field: 'translation_memory_threshold',
    limit: 100,
    problem: ({ translation_memory_threshold: threshold = 0 }) =>
      !(Number(threshold) >= 0 && Number(threshold) <= 100) && 'the threshold must be a number from 0 to 100',
  },
]

const ONE_CHOICE: Rule = {
  field: 'tone',
  problem: ({ writing_style = 'default', tone = 'default' }) =>
    writing_style !== 'default' && tone !== 'default' && 'writing_style and tone cannot be used together',
}

const MOST_DAYS = 366

/** An invalid date is left to the service. */
const DAYS: Rule = {
  field: 'end_date',
  documented: true,
  limit: MOST_DAYS,
  problem({ start_date, end_date }) {
    const days = (Date.parse(String(end_date)) - Date.parse(String(start_date))) / 86_400_000
    return days > MOST_DAYS && `a report covers at most ${MOST_DAYS} days, these are ${Math.ceil(days)}`
  },
}

const GLOSSARY = '/v3/glossaries/{glossary_id}'
const OLD_GLOSSARY = '/v2/glossaries/{glossary_id}'
const STYLE = '/v3/style_rules/{style_id}'
const INSTRUCTION = `${STYLE}/custom_instructions/{instruction_id}` as const
const VOICE_JOB = '/v1/jobs/voice/translate'
const LIST: More = { answer: 'list' }
const NOTHING: More = { answer: 'nothing' }
const RANGE: More = { types: { start_date: 'text', end_date: 'text' }, rules: [DAYS] }
const USAGE: More = { ...RANGE, query: ['start_date', 'end_date', 'group_by'], members: { usage_report: 'record' } }
const TAG_QUERY = ['start_date', 'end_date', 'aggregate_by', 'page']
const TAG_USAGE: More = { ...RANGE, query: TAG_QUERY, members: { custom_tag_usage_report: 'record' } }
const TEXTS: More = { form: true, billed: true, elements: { text: 'text' } }
const TRANSLATE: More = {
  ...TEXTS,
  members: { translations: 'list' },
  types: { text: 'texts', target_lang: 'text', custom_instructions: 'texts?' },
  rules: TRANSLATION_RULES,
  sizes: {
    text: { ...items(50), hint: 'use translateMany, which splits them into several requests' },
    custom_instructions: { ...items(10), documented: true, code: 'REQUEST_INVALID' },
    'custom_instructions[]': { ...characters(300), documented: true, code: 'REQUEST_INVALID' },
    glossary_ids: { ...items(5), code: 'REQUEST_INVALID' },
  },
  largest: { most: 131_072, documented: true, hint: 'send fewer texts at once: translateMany splits them into several requests' },
}
const WRITING: More = {
  ...TEXTS,
  members: { improvements: 'list' },
  types: { text: 'texts' },
  rules: [HAS_TEXT, ONE_CHOICE],
  largest: { most: 10_240, hint: 'divide the text and send each part by itself' },
}
const DOCUMENT_KEY = ['document_key']
/** Uploads have no timeout: the timeout for headers starts after them. */
const UPLOAD: More = { timeout: Number.POSITIVE_INFINITY, secretAnswer: true, members: { document_id: 'text', document_key: 'text' } }
const STATUS: More = { form: true, secrets: DOCUMENT_KEY, members: { status: 'text' } }
/** 503 means that the document is not ready; an immediate retry does not help. */
const RESULT: More = { answer: 'stream', response: 'stream', form: true, final: [503], secrets: DOCUMENT_KEY, accept: '*/*' }
const PAIRS: More = { members: { supported_languages: 'list' }, stability: 'deprecated' }
/** Maximum size in bytes of a term, and of the name of a glossary. */
export const LONGEST_TERM: Size = { unit: 'bytes', most: 1024, documented: true }
const GLOSSARIES: More = { members: { glossaries: 'list' } }
const GLOSSARY_RECORD: More = { members: { glossary_id: 'text' } }
const NEW_GLOSSARY: More = { ...GLOSSARY_RECORD, form: true, types: { name: 'text' }, sizes: { name: LONGEST_TERM } }
const ONE_DICTIONARY: Size = { ...items(1), code: 'REQUEST_INVALID', hint: 'use putDictionary for each' }
const GLOSSARY_CHANGE: More = { ...GLOSSARY_RECORD, form: true, sizes: { name: LONGEST_TERM, dictionaries: ONE_DICTIONARY } }
const PAIR: More = { query: ['source_lang', 'target_lang'] }
const TSV: More = { answer: 'text', response: 'text', accept: 'text/tab-separated-values' }
const COUNT: More = { members: { character_count: 'number' } }
const OLD_LANGUAGES: More = { ...LIST, query: ['type'], stability: 'deprecated' }
const PAGE_SIZE: Size = { unit: 'number', least: 1, most: 25, code: 'REQUEST_INVALID' }
const MEMORIES: More = { query: ['page', 'page_size'], sizes: { page_size: PAGE_SIZE }, members: { translation_memories: 'list' } }
const STYLES: More = {
  query: ['page', 'page_size', 'detailed'],
  formOptions: { booleans: 'words' },
  sizes: { page_size: PAGE_SIZE },
  members: { style_rules: 'list' },
}
const STYLE_RECORD: More = { members: { style_id: 'text' } }
const STYLE_NAME: More = { ...STYLE_RECORD, sizes: { name: characters(1024) } }
const NEW_STYLE: More = {
  ...STYLE_RECORD,
  sizes: {
    name: characters(1024),
    custom_instructions: items(200),
    'custom_instructions[].label': characters(100),
    'custom_instructions[].prompt': characters(300),
  },
}
const STYLE_INSTRUCTION: More = { members: { id: 'text' } }
const NEW_INSTRUCTION: More = { ...STYLE_INSTRUCTION, sizes: { label: characters(100), prompt: characters(300) } }
const SESSION: More = { secretAnswer: true, members: { streaming_url: 'text', token: 'text' } }
const NEW_SESSION: More = { ...SESSION, sizes: { target_languages: items(5), target_media_languages: items(1) } }
const TOKEN: More = { ...SESSION, query: ['token'], secrets: ['token'] }
const JOB: More = { stability: 'alpha', secretAnswer: true, query: ['include'] }
const NEW_JOB: More = {
  ...JOB,
  members: { job_id: 'text' },
  sizes: {
    targets: { ...items(Number.POSITIVE_INFINITY), least: 1 },
    'source_file.content_length': { unit: 'number', least: 1, most: 1_073_741_824 },
  },
}
const JOB_STATE: More = { ...JOB, members: { results: 'list' }, elements: { status: 'text' } }
const EVALUATION: More = {
  stability: 'closed alpha',
  members: { job_id: 'text' },
  sizes: {
    segments: { ...items(500), least: 1 },
    'segments[].source': characters(10_000),
    'segments[].target': characters(10_000),
  },
}
const EVALUATION_STATE: More = { stability: 'closed alpha', members: { status: 'text' } }

const ROWS = {
  'admin.usage': [1, 'GET /v2/admin/analytics', 'safe', 'admin', USAGE],
  'admin.customTagUsage': [2, 'GET /v2/admin/analytics/custom-tags', 'safe', 'admin', TAG_USAGE],
  'admin.keys.create': [3, 'POST /v2/admin/developer-keys', 'unsafe', 'admin'],
  'admin.keys.list': [4, 'GET /v2/admin/developer-keys', 'safe', 'admin', LIST],
  'admin.keys.deactivate': [5, 'PUT /v2/admin/developer-keys/deactivate', 'idem', 'admin'],
  'admin.keys.rename': [6, 'PUT /v2/admin/developer-keys/label', 'idem', 'admin'],
  'admin.keys.setLimits': [7, 'PUT /v2/admin/developer-keys/limits', 'idem', 'admin'],
  translateText: [8, 'POST /v2/translate', 'idem', 'translate:text', TRANSLATE],
  'documents.upload': [9, 'POST /v2/document', 'unsafe', 'translate:document', UPLOAD],
  'documents.status': [10, 'POST /v2/document/{document_id}', 'idem', 'translate:document', STATUS],
  'documents.download': [11, 'POST /v2/document/{document_id}/result', 'once', 'translate:document', RESULT],
  'glossariesV2.languagePairs': [12, 'GET /v2/glossary-language-pairs', 'safe', 'glossaries:read', PAIRS],
  'glossaries.create': [13, 'POST /v3/glossaries', 'unsafe', 'glossaries:write', NEW_GLOSSARY],
  'glossaries.list': [14, 'GET /v3/glossaries', 'safe', 'glossaries:read', GLOSSARIES],
  'glossaries.get': [15, `GET ${GLOSSARY}`, 'safe', 'glossaries:read', GLOSSARY_RECORD],
  'glossaries.update': [16, `PATCH ${GLOSSARY}`, 'idem', 'glossaries:write', GLOSSARY_CHANGE],
  'glossaries.delete': [17, `DELETE ${GLOSSARY}`, 'idem', 'glossaries:write', NOTHING],
  'glossaries.entries': [18, `GET ${GLOSSARY}/entries`, 'safe', 'glossaries:read', PAIR],
  'glossaries.deleteDictionary': [19, `DELETE ${GLOSSARY}/dictionaries`, 'idem', 'glossaries:write', { ...NOTHING, ...PAIR }],
  'glossaries.putDictionary': [20, `PUT ${GLOSSARY}/dictionaries`, 'idem', 'glossaries:write'],
  'glossariesV2.create': [21, 'POST /v2/glossaries', 'unsafe', 'glossaries:write', NEW_GLOSSARY],
  'glossariesV2.list': [22, 'GET /v2/glossaries', 'safe', 'glossaries:read', GLOSSARIES],
  'glossariesV2.get': [23, `GET ${OLD_GLOSSARY}`, 'safe', 'glossaries:read', GLOSSARY_RECORD],
  'glossariesV2.delete': [24, `DELETE ${OLD_GLOSSARY}`, 'idem', 'glossaries:write', NOTHING],
  'glossariesV2.entries': [25, `GET ${OLD_GLOSSARY}/entries`, 'safe', 'glossaries:read', TSV],
  rephraseText: [26, 'POST /v2/write/rephrase', 'idem', 'write:improve', WRITING],
  correctText: [27, 'POST /v2/write/correct', 'idem', 'write:improve', WRITING],
  usage: [28, 'GET /v2/usage', 'safe', 'usage:read', COUNT],
  languagesV2: [29, 'GET /v2/languages', 'safe', 'languages:read', OLD_LANGUAGES],
  'languages.resources': [30, 'GET /v3/languages/resources', 'safe', 'languages:read', LIST],
  'languages.list': [31, 'GET /v3/languages', 'safe', 'languages:read', { ...LIST, query: ['resource', 'include'] }],
  'translationMemories.list': [32, 'GET /v3/translation_memories', 'safe', 'translation_memories:read', MEMORIES],
  'styleRules.list': [33, 'GET /v3/style_rules', 'safe', 'style_rules:read', STYLES],
  'styleRules.create': [34, 'POST /v3/style_rules', 'unsafe', 'style_rules:write', NEW_STYLE],
  'styleRules.get': [35, `GET ${STYLE}`, 'safe', 'style_rules:read', STYLE_RECORD],
  'styleRules.rename': [36, `PATCH ${STYLE}`, 'idem', 'style_rules:write', STYLE_NAME],
  'styleRules.delete': [37, `DELETE ${STYLE}`, 'idem', 'style_rules:write', NOTHING],
  'styleRules.setRules': [38, `PUT ${STYLE}/configured_rules`, 'idem', 'style_rules:write', STYLE_RECORD],
  'styleRules.instructions.create': [39, `POST ${STYLE}/custom_instructions`, 'unsafe', 'style_rules:write', NEW_INSTRUCTION],
  'styleRules.instructions.get': [40, `GET ${INSTRUCTION}`, 'safe', 'style_rules:read', STYLE_INSTRUCTION],
  'styleRules.instructions.replace': [41, `PUT ${INSTRUCTION}`, 'idem', 'style_rules:write', NEW_INSTRUCTION],
  'styleRules.instructions.delete': [42, `DELETE ${INSTRUCTION}`, 'idem', 'style_rules:write', NOTHING],
  'voice.createSession': [43, 'POST /v3/voice/realtime', 'unsafe', 'unscoped', NEW_SESSION],
  'voice.reconnect': [44, 'GET /v3/voice/realtime', 'unsafe', 'unscoped', TOKEN],
  'voiceJobs.create': [45, `POST ${VOICE_JOB}`, 'unsafe', 'unscoped', NEW_JOB],
  'voiceJobs.get': [46, `GET ${VOICE_JOB}/{job_id}`, 'safe', 'unscoped', JOB_STATE],
  'quality.submit': [47, 'POST /v1/quality-evaluation', 'unsafe', 'any', EVALUATION],
  'quality.poll': [48, 'GET /v1/quality-evaluation/{job_id}', 'safe', 'any', EVALUATION_STATE],
} as const satisfies Readonly<Record<string, Row>>

/** The method of the client that sends an operation. */
export type OperationName = keyof typeof ROWS

/** All operations, by the method of the client that sends them. */
export const operations = Object.fromEntries(
  Object.entries<Row>(ROWS).map(([name, [number, request, replay, right, more]]) => {
    const [method, path = ''] = request.split(' ')
    return [name, { number, name, method: method as Operation['method'], path, replay, right, answer: 'record', ...more }]
  }),
) as Readonly<Record<OperationName, TranslationOperation>>

/**
 * Checks the members of a query or body. Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE`; `TypeError` for another type, and
 * `REQUEST_INVALID` for an unpaired surrogate, whatever `validation` is.
 */
export function checkMembers(row: TranslationOperation, members: FormMembers, validation: Validation): void {
  const { types = {}, rules = [], sizes = {} } = row
  for (const [name, type] of Object.entries(types)) checkType(name, members[name], type)
  checkSurrogates(members)
  const isChecked = ({ documented }: { readonly documented?: true }) => validation === 'strict' || (documented && validation === 'document')
  for (const { field, limit, problem } of rules.filter(isChecked)) {
    const why = problem(members)
    if (why) throw new ValidationError('REQUEST_INVALID', `${why}; nothing was sent`, { field, ...(limit !== undefined && { limit }) })
  }
  for (const [path, size] of Object.entries(sizes).filter(([, one]) => isChecked(one)))
    for (const [field, value] of valuesAt(members, path.split(/\.|(?=\[\])/), '')) checkSize(value, field, size)
}

/** Checks the parameters of translations of texts and documents. Errors: those of {@link checkMembers}. */
export function checkTranslation(params: FormMembers, validation: Validation): void {
  checkMembers(operations.translateText, { text: [''], ...params }, validation)
}

/** Checks the size of the body as it is sent. Errors: `REQUEST_TOO_LARGE`. */
export function checkBodySize(
  { largest }: TranslationOperation,
  body: FormMembers,
  { extraBody, encoding }: TranslationCallOptions,
  validation: Validation,
): void {
  if (!largest || validation === 'off' || (validation === 'document' && !largest.documented)) return
  const { most: limit, hint } = largest
  const size = bodySize({ ...body, ...extraBody }, encoding)
  if (size <= limit) return
  const message = `a request has at most ${limit} bytes, this one would have ${size}; nothing was sent`
  throw new ValidationError('REQUEST_TOO_LARGE', message, { field: 'text', limit, ...(hint && { hint }) })
}

/** Returns the size of the body in bytes as it is sent. */
export function bodySize(body: FormMembers, encoding: 'json' | 'form' = 'json'): number {
  return encoding === 'form' ? encodeForm(inForm(body), { arrays: 'repeat' }).length : utf8Length(JSON.stringify(body) ?? '')
}

function checkType(name: string, value: unknown, type: 'text' | 'texts' | 'texts?'): void {
  if (type === 'text' && typeof value !== 'string') throw new TypeError(`${name} must be a string`)
  if (type === 'text' || (type === 'texts?' && value === undefined)) return
  const isTexts = Array.isArray(value) && value.every((text) => typeof text === 'string')
  if (!isTexts) throw new TypeError(`${name} must be an array of strings`)
}

/** Checks that a form could carry a value too, so that both encodings refuse the same. Errors: `REQUEST_INVALID`. */
export function checkSurrogates(value: unknown, at = '', seen = new Set<unknown>()): void {
  if (typeof value === 'string' && !value.isWellFormed()) {
    const field = at || 'body'
    throw new ValidationError('REQUEST_INVALID', `"${field}" has an unpaired surrogate in it; nothing was sent`, { field })
  }
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  const isList = Array.isArray(value)
  for (const [name, member] of Object.entries(value))
    checkSurrogates(member, isList ? `${at}[${name}]` : at === '' ? name : `${at}.${name}`, seen)
}

/** Returns the values at a path that are present, with their names. */
function valuesAt(value: unknown, [step, ...rest]: readonly string[], at: string): readonly (readonly [field: string, value: unknown])[] {
  if (value === undefined) return []
  if (step === undefined) return [[at, value]]
  if (step !== '[]') return valuesAt(Object(value)[step], rest, at === '' ? step : `${at}.${step}`)
  return Array.isArray(value) ? value.flatMap((item, index) => valuesAt(item, rest, `${at}[${index}]`)) : []
}

/** Checks one value. Errors: as of {@link checkMembers}, without the value. */
function checkSize(value: unknown, field: string, size: Size): void {
  const { unit, least = 0, most: limit, code = 'REQUEST_TOO_LARGE', hint } = size
  const refuse = (why: string, how: typeof code | 'REQUEST_INVALID' = code) => {
    throw new ValidationError(how, `${field} ${why}; nothing was sent`, { field, limit, ...(hint && { hint }) })
  }
  if (unit === 'items') {
    if (!Array.isArray(value)) throw new TypeError(`${field} must be an array`)
    if (value.length < least) refuse(`needs at least ${least}`, 'REQUEST_INVALID')
    if (value.length > limit) refuse(`has ${value.length}, at most ${limit} can be sent at once`)
  } else if (unit === 'number') {
    if (!Number.isInteger(value) || Number(value) < least) refuse(`must be a whole number of at least ${least}`, 'REQUEST_INVALID')
    if (Number(value) > limit) refuse(`is more than ${limit}`)
  } else {
    if (typeof value !== 'string') throw new TypeError(`${field} must be a string`)
    if (value.length * (unit === 'bytes' ? 3 : 1) <= limit) return
    const length = unit === 'bytes' ? utf8Length(value) : value.length > limit * 2 ? value.length : [...value].length
    if (length > limit) refuse(`has more than ${limit} ${unit === 'bytes' ? 'bytes in UTF-8' : 'characters'}`)
  }
}

/** Lists that are sent as one text with commas; other lists are repeated. */
const JOINED = new Set(['glossary_ids', 'non_splitting_tags', 'splitting_tags', 'ignore_tags'])

const JSON_ONLY = ['style_id', 'custom_instructions', 'tag_handling_version']

/** Returns the members of a body as form fields. Errors: `REQUEST_INVALID` for members that only JSON can express. */
export function inForm(members: FormMembers): FormMembers {
  const wrong = JSON_ONLY.find((name) => members[name] !== undefined)
  if (wrong) throw new ValidationError('REQUEST_INVALID', `"${wrong}" can only be sent as JSON; nothing was sent`, { field: wrong })
  return Object.fromEntries(Object.entries(members).flatMap(([name, value]) => inFormMember(name, value)))
}

/** Returns one member of a body for a form; members of objects in lists are named `dictionaries[0].source_lang`. */
function inFormMember(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (!Array.isArray(value)) return [[name, value]]
  if (JOINED.has(name)) return [[name, value.join(',')]]
  if (!value.some((item) => typeof item === 'object' && item !== null)) return [[name, value]]
  return value.flatMap((item: object, index) => Object.entries(item).map(([key, inner]) => [`${name}[${index}].${key}`, inner] as const))
}
