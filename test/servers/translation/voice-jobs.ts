import { jsonReply, type Reply } from '../service/reply.ts'
import { type Fields, jsonFields } from './fields.ts'
import { languageOf } from './languages.ts'
import { readBody } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call, TranslationState } from './state.ts'
import { JOB_SOURCES, TARGET_TYPES } from './voice-media.ts'

/** A recording to translate. */
export interface VoiceJob {
  readonly id: string
  readonly createdAt: number
  readonly signature: string
  readonly source: { readonly name: string; readonly content_type: string; readonly content_length: number }
  readonly parameters: Readonly<Record<string, unknown>>
  readonly targets: readonly VoiceTarget[]
  uploaded: { readonly at: number; readonly content: Buffer } | undefined
}

export interface VoiceTarget {
  readonly language: string
  readonly type: string
  readonly signature: string
  downloaded: boolean
  /** Set by tests: this target fails with this message. */
  failure?: string
}

const FIELDS: Fields = {
  source_file: { type: 'object', required: true },
  parameters: { type: 'object' },
  targets: { type: 'objects', required: true },
}
const SOURCE: Fields = {
  name: { type: 'string', required: true },
  content_type: { type: 'string', required: true, values: [...JOB_SOURCES] },
  content_length: { type: 'number', required: true },
}
const TARGET: Fields = { language: { type: 'string', required: true }, type: { type: 'string', required: true, values: [...TARGET_TYPES] } }
const LARGEST = 1_073_741_824
const LARGE = 100 * 1024 * 1024
/** Milliseconds in which the upload must come. */
const UPLOAD_WINDOW = 5 * 60_000
const DOWNLOAD_WINDOW = 60 * 60_000

/** Operation 45. */
export function createVoiceJob(call: Call, assets: string): Reply {
  const { state } = call
  const { allowExtra } = state.settings
  const values = readBody(call, FIELDS)
  const source = jsonFields(values.source_file, SOURCE, allowExtra, 'source_file.') as unknown as VoiceJob['source']
  const parameters = jsonFields(values.parameters ?? {}, { source_language: { type: 'string' } }, allowExtra, 'parameters.')
  const { content_length: size } = source
  if (!Number.isInteger(size) || size < 1 || size > LARGEST) refuse(400, "Value for 'content_length' not supported.")
  const targets = (values.targets as readonly unknown[]).map((target): VoiceTarget => {
    const { language, type } = jsonFields(target, TARGET, allowExtra, 'targets.') as Record<string, string>
    if (!language || !languageOf(language) || !type) return refuse(400, 'Unsupported language')
    return { language, type, signature: state.ids.hex(40), downloaded: false }
  })
  if (targets.length === 0) refuse(400, 'A target is needed.')
  const active = [...state.voiceJobs.keys()].filter((id) => liveVoiceJob(state, id)).length
  if (active >= (size > LARGE ? 2 : 10)) refuse(429, 'Too many jobs')
  const job: VoiceJob = {
    ...{ id: state.ids.uuid(), createdAt: state.clock.now(), signature: state.ids.hex(40) },
    ...{ source, parameters, targets, uploaded: undefined },
  }
  state.voiceJobs.set(job.id, job)
  const upload_url = `${assets}/uploads/${job.id}`
  const signed = wantsSigned(call) && { signed_upload_url: `${upload_url}?signature=${job.signature}` }
  return jsonReply(201, { job_id: job.id, upload_url, signature: job.signature, ...signed })
}

/** Operation 46. */
export function getVoiceJob(call: Call, assets: string): Reply {
  const { state, request } = call
  const job = liveVoiceJob(state, request.params.job_id ?? '') ?? refuse(404, 'Job not found')
  const { id, source, parameters, targets, createdAt, uploaded } = job
  const times = { created_at: new Date(createdAt).toISOString(), updated_at: new Date(uploaded?.at ?? createdAt).toISOString() }
  return jsonReply(200, {
    ...{ job_id: id, product: 'voice', operation: 'translate', ...times, usage: { storage_used: uploaded?.content.length ?? 0 } },
    ...{ source_file: source, parameters, targets: targets.map(({ language, type }) => ({ language, type })) },
    results: targets.map((target, index) => result(state, job, target, `${assets}/results/${id}/${index}`, wantsSigned(call))),
  })
}

/** Nothing when the upload did not come in time, when all was fetched, or when the results have waited for too long. */
export function liveVoiceJob({ voiceJobs, clock, settings }: TranslationState, id: string): VoiceJob | undefined {
  const job = voiceJobs.get(id)
  if (!job) return undefined
  const { uploaded, createdAt, targets } = job
  const over = uploaded
    ? clock.now() - uploaded.at > settings.voiceJobMs + DOWNLOAD_WINDOW || targets.every(({ downloaded }) => downloaded)
    : clock.now() - createdAt > UPLOAD_WINDOW
  if (!over) return job
  voiceJobs.delete(id)
  return undefined
}

/** How far a target is: a fifth of the time it waits, then it is worked on. */
export function targetStatus({ clock, settings }: TranslationState, { uploaded }: VoiceJob, { downloaded, failure }: VoiceTarget): string {
  if (downloaded) return 'downloaded'
  if (!uploaded) return 'pending'
  const age = clock.now() - uploaded.at
  if (age < settings.voiceJobMs / 5) return 'uploaded'
  if (age < settings.voiceJobMs) return 'processing'
  return failure === undefined ? 'complete' : 'failed'
}

function result(state: TranslationState, job: VoiceJob, target: VoiceTarget, download_url: string, signed: boolean): unknown {
  const status = targetStatus(state, job, target)
  if (status === 'failed') return { status, error: { message: target.failure, code: 'processing_failed' } }
  if (status !== 'complete') return { status }
  const { signature } = target
  return { status, download_url, signature, ...(signed && { signed_download_url: `${download_url}?signature=${signature}` }) }
}

function wantsSigned({ request }: Call): boolean {
  const [[, include] = [], ...others] = request.query.filter(([name]) => name === 'include')
  if (others.length || (include !== undefined && include !== 'signed_url')) refuse(400, "Value for 'include' not supported.")
  return include !== undefined
}
