/** The operations of the translation service, as data of our own to compare a client's table with. */

/** What a repetition does: nothing, the same again, a second thing; or it is only possible before the first byte of the answer. */
export type ReplayClass = 'safe' | 'idem' | 'unsafe' | 'once'

/** Whom an operation is for: any key, one of an administrator, one without scopes, or one with this scope if it has any. */
export type Right = 'any' | 'admin' | 'unscoped' | `${string}:${string}`

export interface Operation {
  readonly op: number
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With parameters in braces. */
  readonly path: string
  /** Status codes of success. */
  readonly success: readonly number[]
  readonly replay: ReplayClass
  readonly right: Right
  /** What the body may be. */
  readonly body: 'none' | 'json' | 'json or form' | 'multipart'
  /** Parameters that the query may have. */
  readonly query: readonly string[]
}

type Row = readonly [
  op: number,
  request: string,
  success: number | readonly number[],
  replay: ReplayClass,
  right: Right,
  body?: Operation['body'],
  query?: string,
]

const GLOSSARY = '/v3/glossaries/{glossary_id}'
const OLD_GLOSSARY = '/v2/glossaries/{glossary_id}'
const STYLE = '/v3/style_rules/{style_id}'
const INSTRUCTION = `${STYLE}/custom_instructions/{instruction_id}`
const VOICE_JOB = '/v1/jobs/voice/translate'
const LANGUAGES = 'source_lang target_lang'

const rows: readonly Row[] = [
  [1, 'GET /v2/admin/analytics', 200, 'safe', 'admin', 'none', 'start_date end_date group_by'],
  [2, 'GET /v2/admin/analytics/custom-tags', 200, 'safe', 'admin', 'none', 'start_date end_date aggregate_by page'],
  [3, 'POST /v2/admin/developer-keys', 200, 'unsafe', 'admin', 'json'],
  [4, 'GET /v2/admin/developer-keys', 200, 'safe', 'admin'],
  [5, 'PUT /v2/admin/developer-keys/deactivate', 200, 'idem', 'admin', 'json'],
  [6, 'PUT /v2/admin/developer-keys/label', 200, 'idem', 'admin', 'json'],
  [7, 'PUT /v2/admin/developer-keys/limits', 200, 'idem', 'admin', 'json'],
  [8, 'POST /v2/translate', 200, 'idem', 'translate:text', 'json or form'],
  [9, 'POST /v2/document', 200, 'unsafe', 'translate:document', 'multipart'],
  [10, 'POST /v2/document/{document_id}', 200, 'idem', 'translate:document', 'json or form'],
  [11, 'POST /v2/document/{document_id}/result', 200, 'once', 'translate:document', 'json or form'],
  [12, 'GET /v2/glossary-language-pairs', 200, 'safe', 'glossaries:read'],
  [13, 'POST /v3/glossaries', 201, 'unsafe', 'glossaries:write', 'json or form'],
  [14, 'GET /v3/glossaries', 200, 'safe', 'glossaries:read'],
  [15, `GET ${GLOSSARY}`, 200, 'safe', 'glossaries:read'],
  [16, `PATCH ${GLOSSARY}`, 200, 'idem', 'glossaries:write', 'json or form'],
  [17, `DELETE ${GLOSSARY}`, 204, 'idem', 'glossaries:write'],
  [18, `GET ${GLOSSARY}/entries`, 200, 'safe', 'glossaries:read', 'none', LANGUAGES],
  [19, `DELETE ${GLOSSARY}/dictionaries`, 204, 'idem', 'glossaries:write', 'none', LANGUAGES],
  [20, `PUT ${GLOSSARY}/dictionaries`, 200, 'idem', 'glossaries:write', 'json'],
  [21, 'POST /v2/glossaries', 201, 'unsafe', 'glossaries:write', 'json or form'],
  [22, 'GET /v2/glossaries', 200, 'safe', 'glossaries:read'],
  [23, `GET ${OLD_GLOSSARY}`, 200, 'safe', 'glossaries:read'],
  [24, `DELETE ${OLD_GLOSSARY}`, 204, 'idem', 'glossaries:write'],
  [25, `GET ${OLD_GLOSSARY}/entries`, 200, 'safe', 'glossaries:read'],
  [26, 'POST /v2/write/rephrase', 200, 'idem', 'write:improve', 'json or form'],
  [27, 'POST /v2/write/correct', 200, 'idem', 'write:improve', 'json or form'],
  [28, 'GET /v2/usage', 200, 'safe', 'usage:read'],
  [29, 'GET /v2/languages', 200, 'safe', 'languages:read', 'none', 'type'],
  [30, 'GET /v3/languages/resources', 200, 'safe', 'languages:read'],
  [31, 'GET /v3/languages', 200, 'safe', 'languages:read', 'none', 'resource include'],
  [32, 'GET /v3/translation_memories', 200, 'safe', 'translation_memories:read', 'none', 'page page_size'],
  [33, 'GET /v3/style_rules', 200, 'safe', 'style_rules:read', 'none', 'page page_size detailed'],
  [34, 'POST /v3/style_rules', 201, 'unsafe', 'style_rules:write', 'json'],
  [35, `GET ${STYLE}`, 200, 'safe', 'style_rules:read'],
  [36, `PATCH ${STYLE}`, 200, 'idem', 'style_rules:write', 'json'],
  [37, `DELETE ${STYLE}`, 204, 'idem', 'style_rules:write'],
  [38, `PUT ${STYLE}/configured_rules`, 200, 'idem', 'style_rules:write', 'json'],
  [39, `POST ${STYLE}/custom_instructions`, 201, 'unsafe', 'style_rules:write', 'json'],
  [40, `GET ${INSTRUCTION}`, 200, 'safe', 'style_rules:read'],
  [41, `PUT ${INSTRUCTION}`, 200, 'idem', 'style_rules:write', 'json'],
  [42, `DELETE ${INSTRUCTION}`, 204, 'idem', 'style_rules:write'],
  [43, 'POST /v3/voice/realtime', 200, 'unsafe', 'unscoped', 'json'],
  [44, 'GET /v3/voice/realtime', 200, 'unsafe', 'unscoped', 'none', 'token'],
  [45, `POST ${VOICE_JOB}`, 201, 'unsafe', 'unscoped', 'json', 'include'],
  [46, `GET ${VOICE_JOB}/{job_id}`, 200, 'safe', 'unscoped', 'none', 'include'],
  [47, 'POST /v1/quality-evaluation', 202, 'unsafe', 'any', 'json'],
  [48, 'GET /v1/quality-evaluation/{job_id}', [200, 202], 'safe', 'any'],
]

/** All 48, by number. */
export const operations: readonly Operation[] = rows.map(([op, request, success, replay, right, body = 'none', query = '']) => {
  const [method, path = ''] = request.split(' ')
  const codes = typeof success === 'number' ? [success] : success
  return { op, method: method as Operation['method'], path, success: codes, replay, right, body, query: query.split(' ').filter(Boolean) }
})
