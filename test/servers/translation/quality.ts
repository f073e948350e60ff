import { jsonReply, type Reply } from '../service/reply.ts'
import { codePoints, type Fields, jsonFields } from './fields.ts'
import { languageOf } from './languages.ts'
import { readBody } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call } from './state.ts'

/** An evaluation and what it is about. */
export interface QualityJob {
  readonly id: string
  readonly createdAt: number
  readonly segments: readonly Segment[]
  /** Set by tests: the evaluation fails with this message. */
  failure?: string
}

interface Segment {
  readonly source: string
  readonly target: string
}

const FIELDS: Fields = { metadata: { type: 'object', required: true }, segments: { type: 'objects', required: true } }
const METADATA: Fields = { source_language: { type: 'string', required: true }, target_language: { type: 'string', required: true } }
const SEGMENT: Fields = { source: { type: 'string', required: true }, target: { type: 'string', required: true } }
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const KEPT = 24 * 3_600_000
/** Beyond the first plane: two code units, one code point. */
const ASTRAL = /[\u{10000}-\u{10ffff}]/u

/** Operation 47. */
export function submitQuality(call: Call): Reply {
  const { state, request } = call
  const { metadata, segments } = readBody(call, FIELDS)
  const { allowExtra } = state.settings
  const languages = jsonFields(metadata, METADATA, allowExtra, 'metadata.')
  if (!Object.values(languages).every((code) => languageOf(String(code)))) refuse(400, 'Unsupported language')
  const read = (segments as readonly unknown[]).map(
    (segment) => jsonFields(segment, SEGMENT, allowExtra, 'segments.') as unknown as Segment,
  )
  if (read.length < 1 || read.length > 500) refuse(400, '1 to 500 segments are needed')
  if (read.some((segment) => [segment.source, segment.target].some((text) => text === '' || codePoints(text) > 10_000))) {
    refuse(400, 'A side of a segment is empty or longer than 10000 characters')
  }
  const id = state.ids.uuid()
  state.qualityJobs.set(id, { id, createdAt: state.clock.now(), segments: read })
  const path = `${request.path}/${id}`
  const poll_url = state.settings.pollUrl === 'foreign' ? `https://elsewhere.example${path}` : path
  return jsonReply(202, { job_id: id, poll_url }, retryAfter(state.settings.jobMs))
}

/** Operation 48. */
export function pollQuality({ state, request }: Call): Reply {
  const id = request.params.job_id ?? ''
  if (!UUID.test(id)) refuse(400, 'The job id is no UUID')
  const job = state.qualityJobs.get(id)
  const age = job ? state.clock.now() - job.createdAt : 0
  if (!job || age > KEPT) return refuse(404, 'Job not found')
  const left = state.settings.jobMs - age
  if (left > 0) return jsonReply(202, { job_id: id, status: 'processing' }, retryAfter(left))
  if (job.failure !== undefined) {
    return jsonReply(200, { job_id: id, status: 'error', error: { code: 'evaluation_failed', message: job.failure } })
  }
  const segments = job.segments.map((segment, segment_index) => ({ segment_index, errors: errorsOf(segment) }))
  const count = segments.reduce((sum, { errors }) => sum + errors.length, 0)
  const summary = { overall_score: Math.max(0, 100 - 5 * count), granular_counts: { Critical: 0, Major: 0, Minor: count } }
  return jsonReply(200, { job_id: id, status: 'done', segments, summary })
}

/** The last word of a target is always wrong: also behind a character that has two code units. */
function errorsOf({ source, target }: Segment): readonly unknown[] {
  const word = /\S+\s*$/u.exec(target)
  if (!word && !ASTRAL.test(target)) return []
  const start = codePoints(target.slice(0, word?.index ?? 0))
  const error = { type: 'Style', sub_type: 'Wording', severity: 'Minor', explanation: 'Another word fits better.' }
  return [{ ...error, source_spans: [{ start: 0, end: codePoints(source) }], target_spans: [{ start, end: codePoints(target.trimEnd()) }] }]
}

function retryAfter(milliseconds: number) {
  return { 'Retry-After': String(Math.ceil(milliseconds / 1000)) }
}
