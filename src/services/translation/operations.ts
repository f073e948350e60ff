/** The operations of the translation service as data, one row each. */
import { ValidationError } from '../client/errors.ts'
import type { CallInput, FormMembers, Operation } from '../client/request.ts'

/** The key that an operation needs: with that scope, of an administrator, without scopes, or any. */
export type Right = 'any' | 'admin' | 'unscoped' | `${string}:${string}`

/** The type of a member of a record. */
export type Member = 'record' | 'list' | 'text' | 'number'

/** The size of a text in characters (code points), of a list in items, or the largest number of items of a page. */
type Size = { readonly characters: number } | { readonly items: number; readonly least?: number } | { readonly page: number }

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
  /** Sizes of members of the query or body, which are checked before anything is sent; `[]` stands for each element of a list. */
  readonly sizes?: Readonly<Record<string, Size>>
  /** True when the body may be sent as a form. */
  readonly form?: true
  readonly stability?: 'alpha' | 'closed alpha' | 'deprecated'
}

type Row = readonly [number: number, request: `${Operation['method']} /${string}`, replay: Operation['replay'], right: Right, more?: More]
type More = Partial<Omit<TranslationOperation, 'number' | 'name' | 'method' | 'path' | 'replay' | 'right'>>

const GLOSSARY = '/v3/glossaries/{glossary_id}'
const OLD_GLOSSARY = '/v2/glossaries/{glossary_id}'
const STYLE = '/v3/style_rules/{style_id}'
const INSTRUCTION = `${STYLE}/custom_instructions/{instruction_id}` as const
const VOICE_JOB = '/v1/jobs/voice/translate'
const LIST = { answer: 'list' } as const
const NOTHING = { answer: 'nothing' } as const
const FORM = { form: true } as const
const BILLED = { form: true, billed: true, elements: { text: 'text' } } as const
const TRANSLATE = { ...BILLED, members: { translations: 'list' } } as const
const WRITING = { ...BILLED, members: { improvements: 'list' } } as const
const ALPHA = { stability: 'alpha', secretAnswer: true } as const
const CLOSED = { stability: 'closed alpha' } as const
const GLOSSARY_RECORD = { members: { glossary_id: 'text' } } as const
const SESSION = { secretAnswer: true, members: { streaming_url: 'text', token: 'text' } } as const
const LANGUAGES = { sizes: { target_languages: { items: 5 }, target_media_languages: { items: 1 } } } as const
const PAGE = { sizes: { page_size: { page: 25 } } } as const
const NAME = { characters: 1024 } as const
const LABEL = { characters: 100 } as const
const PROMPT = { characters: 300 } as const
const SIDE = { characters: 10_000 } as const
const STYLE_LIST = { members: { style_id: 'text' } } as const
const STYLE_INSTRUCTION = { members: { id: 'text' } } as const
const INSTRUCTION_SIZES = { sizes: { label: LABEL, prompt: PROMPT } } as const
const STYLE_SIZES = {
  sizes: {
    name: NAME,
    custom_instructions: { items: 200 },
    'custom_instructions[].label': LABEL,
    'custom_instructions[].prompt': PROMPT,
  },
} as const
const SEGMENTS = { sizes: { segments: { items: 500, least: 1 }, 'segments[].source': SIDE, 'segments[].target': SIDE } } as const
const VOICE_STATE = { members: { results: 'list' }, elements: { status: 'text' } } as const
const GLOSSARIES = { members: { glossaries: 'list' } } as const
const OLD = { stability: 'deprecated' } as const
/** Uploads have no timeout: the timeout for headers starts after them. */
const UPLOAD = { timeout: Number.POSITIVE_INFINITY, secretAnswer: true, members: { document_id: 'text', document_key: 'text' } } as const
const DOCUMENT_KEY = ['document_key'] as const
/** 503 means that the document is not ready; an immediate retry does not help. */
const RESULT = { answer: 'stream', response: 'stream', form: true, final: [503], secrets: DOCUMENT_KEY, accept: '*/*' } as const
const STATUS = { form: true, secrets: DOCUMENT_KEY, members: { status: 'text' } } as const
const TSV = { answer: 'text', response: 'text', accept: 'text/tab-separated-values' } as const

const ROWS = {
  'admin.usage': [1, 'GET /v2/admin/analytics', 'safe', 'admin', { members: { usage_report: 'record' } }],
  'admin.customTagUsage': [2, 'GET /v2/admin/analytics/custom-tags', 'safe', 'admin', { members: { custom_tag_usage_report: 'record' } }],
  'admin.keys.create': [3, 'POST /v2/admin/developer-keys', 'unsafe', 'admin'],
  'admin.keys.list': [4, 'GET /v2/admin/developer-keys', 'safe', 'admin', LIST],
  'admin.keys.deactivate': [5, 'PUT /v2/admin/developer-keys/deactivate', 'idem', 'admin'],
  'admin.keys.rename': [6, 'PUT /v2/admin/developer-keys/label', 'idem', 'admin'],
  'admin.keys.setLimits': [7, 'PUT /v2/admin/developer-keys/limits', 'idem', 'admin'],
  translateText: [8, 'POST /v2/translate', 'idem', 'translate:text', TRANSLATE],
  'documents.upload': [9, 'POST /v2/document', 'unsafe', 'translate:document', UPLOAD],
  'documents.status': [10, 'POST /v2/document/{document_id}', 'idem', 'translate:document', STATUS],
  'documents.download': [11, 'POST /v2/document/{document_id}/result', 'once', 'translate:document', RESULT],
  'glossariesV2.languagePairs': [
    12,
    'GET /v2/glossary-language-pairs',
    'safe',
    'glossaries:read',
    { ...OLD, members: { supported_languages: 'list' } },
  ],
  'glossaries.create': [13, 'POST /v3/glossaries', 'unsafe', 'glossaries:write', { ...FORM, ...GLOSSARY_RECORD }],
  'glossaries.list': [14, 'GET /v3/glossaries', 'safe', 'glossaries:read', GLOSSARIES],
  'glossaries.get': [15, `GET ${GLOSSARY}`, 'safe', 'glossaries:read', GLOSSARY_RECORD],
  'glossaries.update': [16, `PATCH ${GLOSSARY}`, 'idem', 'glossaries:write', { ...FORM, ...GLOSSARY_RECORD }],
  'glossaries.delete': [17, `DELETE ${GLOSSARY}`, 'idem', 'glossaries:write', NOTHING],
  'glossaries.entries': [18, `GET ${GLOSSARY}/entries`, 'safe', 'glossaries:read'],
  'glossaries.deleteDictionary': [19, `DELETE ${GLOSSARY}/dictionaries`, 'idem', 'glossaries:write', NOTHING],
  'glossaries.putDictionary': [20, `PUT ${GLOSSARY}/dictionaries`, 'idem', 'glossaries:write'],
  'glossariesV2.create': [21, 'POST /v2/glossaries', 'unsafe', 'glossaries:write', { ...FORM, ...GLOSSARY_RECORD }],
  'glossariesV2.list': [22, 'GET /v2/glossaries', 'safe', 'glossaries:read', GLOSSARIES],
  'glossariesV2.get': [23, `GET ${OLD_GLOSSARY}`, 'safe', 'glossaries:read', GLOSSARY_RECORD],
  'glossariesV2.delete': [24, `DELETE ${OLD_GLOSSARY}`, 'idem', 'glossaries:write', NOTHING],
  'glossariesV2.entries': [25, `GET ${OLD_GLOSSARY}/entries`, 'safe', 'glossaries:read', TSV],
  rephraseText: [26, 'POST /v2/write/rephrase', 'idem', 'write:improve', WRITING],
  correctText: [27, 'POST /v2/write/correct', 'idem', 'write:improve', WRITING],
  usage: [28, 'GET /v2/usage', 'safe', 'usage:read', { members: { character_count: 'number', character_limit: 'number' } }],
  languagesV2: [29, 'GET /v2/languages', 'safe', 'languages:read', { ...LIST, ...OLD }],
  'languages.resources': [30, 'GET /v3/languages/resources', 'safe', 'languages:read', LIST],
  'languages.list': [31, 'GET /v3/languages', 'safe', 'languages:read', LIST],
  'translationMemories.list': [
    32,
    'GET /v3/translation_memories',
    'safe',
    'translation_memories:read',
    { ...PAGE, members: { translation_memories: 'list' } },
  ],
  'styleRules.list': [33, 'GET /v3/style_rules', 'safe', 'style_rules:read', { ...PAGE, members: { style_rules: 'list' } }],
  'styleRules.create': [34, 'POST /v3/style_rules', 'unsafe', 'style_rules:write', { ...STYLE_LIST, ...STYLE_SIZES }],
  'styleRules.get': [35, `GET ${STYLE}`, 'safe', 'style_rules:read', STYLE_LIST],
  'styleRules.rename': [36, `PATCH ${STYLE}`, 'idem', 'style_rules:write', { ...STYLE_LIST, sizes: { name: NAME } }],
  'styleRules.delete': [37, `DELETE ${STYLE}`, 'idem', 'style_rules:write', NOTHING],
  'styleRules.setRules': [38, `PUT ${STYLE}/configured_rules`, 'idem', 'style_rules:write', STYLE_LIST],
  'styleRules.instructions.create': [
    39,
    `POST ${STYLE}/custom_instructions`,
    'unsafe',
    'style_rules:write',
    { ...STYLE_INSTRUCTION, ...INSTRUCTION_SIZES },
  ],
  'styleRules.instructions.get': [40, `GET ${INSTRUCTION}`, 'safe', 'style_rules:read', STYLE_INSTRUCTION],
  'styleRules.instructions.replace': [
    41,
    `PUT ${INSTRUCTION}`,
    'idem',
    'style_rules:write',
    { ...STYLE_INSTRUCTION, ...INSTRUCTION_SIZES },
  ],
  'styleRules.instructions.delete': [42, `DELETE ${INSTRUCTION}`, 'idem', 'style_rules:write', NOTHING],
  'voice.createSession': [43, 'POST /v3/voice/realtime', 'unsafe', 'unscoped', { ...SESSION, ...LANGUAGES }],
  'voice.reconnect': [44, 'GET /v3/voice/realtime', 'unsafe', 'unscoped', { secrets: ['token'], ...SESSION }],
  'voiceJobs.create': [
    45,
    `POST ${VOICE_JOB}`,
    'unsafe',
    'unscoped',
    { ...ALPHA, members: { job_id: 'text' }, sizes: { targets: { items: Number.POSITIVE_INFINITY, least: 1 } } },
  ],
  'voiceJobs.get': [46, `GET ${VOICE_JOB}/{job_id}`, 'safe', 'unscoped', { ...ALPHA, ...VOICE_STATE }],
  'quality.submit': [47, 'POST /v1/quality-evaluation', 'unsafe', 'any', { ...CLOSED, ...SEGMENTS, members: { job_id: 'text' } }],
  'quality.poll': [48, 'GET /v1/quality-evaluation/{job_id}', 'safe', 'any', { ...CLOSED, members: { status: 'text' } }],
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

/** Checks the sizes of what is sent. Errors: `REQUEST_TOO_LARGE`, `REQUEST_INVALID`; `TypeError` for another type. */
export function checkSizes({ sizes = {} }: TranslationOperation, { body, query }: CallInput): void {
  const members: FormMembers = { ...query, ...(body as object) }
  for (const [path, size] of Object.entries(sizes)) {
    const [name = '', inner] = path.split('[].')
    if (inner === undefined) checkSize(members[name], path, size)
    else for (const [index, item] of listOf(members[name]).entries()) checkSize(Object(item)[inner], `${name}[${index}].${inner}`, size)
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function checkSize(value: unknown, field: string, size: Size): void {
  if ('characters' in size) {
    const { characters: limit } = size
    if (typeof value !== 'string') throw new TypeError(`${field} must be a string`)
    if (value.length <= limit || (value.length <= limit * 2 && [...value].length <= limit)) return
    throw new ValidationError('REQUEST_TOO_LARGE', `${field} has more than ${limit} characters; nothing was sent`, { field, limit })
  }
  if ('page' in size) {
    if (value === undefined || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= size.page)) return
    const message = `a page has 1 to ${size.page} items; nothing was sent`
    throw new ValidationError('REQUEST_INVALID', message, { field, limit: size.page })
  }
  const { least = 0, items: limit } = size
  if (value === undefined && least === 0) return
  if (!Array.isArray(value)) throw new TypeError(`${field} must be an array`)
  if (value.length < least) throw new ValidationError('REQUEST_INVALID', `${field} needs at least ${least}; nothing was sent`, { field })
  if (value.length <= limit) return
  const message = `${field} has ${value.length}, at most ${limit} can be sent at once; nothing was sent`
  throw new ValidationError('REQUEST_TOO_LARGE', message, { field, limit })
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
