import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { jsonReply, type Reply } from '../service/reply.ts'
import type { ServiceDefinition } from '../service/service-definition.ts'
import type { ServiceRequest } from '../service/service-request.ts'
import { queryValue } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { TranslationState } from './state.ts'
import { liveVoiceJob, targetStatus, type VoiceJob, type VoiceTarget } from './voice-jobs.ts'

const OCTETS = 'application/octet-stream'

/** The second origin: recordings and voice sessions. It knows signatures and tokens, and must never see a key. */
export function assetService(
  stateOf: () => TranslationState,
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): ServiceDefinition {
  return {
    routes: [
      { op: 'upload', method: 'PUT', path: '/uploads/{job_id}' },
      { op: 'download', method: 'GET', path: '/results/{job_id}/{index}' },
    ],
    credentialOf: ({ authorization }) => /^DeepL-Signature (\S+)$/.exec(authorization ?? '')?.[1],
    perform: (request) => (request.route.op === 'upload' ? upload(stateOf(), request) : download(stateOf(), request)),
    inspect: (request) => keyLeaks(stateOf(), request),
    failure: (status, message) => jsonReply(status, { message }),
    forbiddenHeaders: ['x-api-key', 'cookie'],
    upgrade,
  }
}

function upload(state: TranslationState, request: ServiceRequest): Reply {
  const job = jobOf(state, request)
  requireSignature(request, job.signature)
  const { 'content-type': type, 'content-length': length } = request.headers
  if (job.uploaded) refuse(409, 'The recording is there already')
  if (type !== OCTETS && type !== job.source.content_type) refuse(400, 'Another type than the job was made for')
  if (length === undefined) refuse(411, 'The length is needed')
  if (request.body.length !== job.source.content_length) refuse(400, 'Another length than the job was made for')
  job.uploaded = { at: state.clock.now(), content: request.body }
  return { status: 204 }
}

function download(state: TranslationState, request: ServiceRequest): Reply {
  const job = jobOf(state, request)
  const target: VoiceTarget = job.targets[Number(request.params.index)] ?? refuse(404, 'Not found')
  requireSignature(request, target.signature)
  if (targetStatus(state, job, target) !== 'complete') refuse(404, 'Not found')
  const body = Buffer.concat([Buffer.from(`[${target.language}] `), job.uploaded?.content ?? Buffer.alloc(0)])
  return {
    status: 200,
    headers: { 'Content-Type': target.type },
    body,
    sent(complete) {
      if (complete) target.downloaded = true
    },
  }
}

function jobOf(state: TranslationState, { params }: ServiceRequest): VoiceJob {
  return liveVoiceJob(state, params.job_id ?? '') ?? refuse(404, 'Not found')
}

/** In the field or in the address, never in both. */
function requireSignature({ headers, query, credential }: ServiceRequest, signature: string): void {
  const inQuery = queryValue(query, 'signature')
  if (inQuery !== undefined && headers.authorization !== undefined) refuse(400, 'Two signatures')
  if (query.some(([name]) => name !== 'signature') || (inQuery ?? credential) !== signature) refuse(403, 'Forbidden')
}

/** A key has no business here, wherever it stands. */
function keyLeaks({ keys }: TranslationState, { rawUrl, rawHeaders, body }: ServiceRequest): readonly string[] {
  const head = `${rawUrl}\n${rawHeaders.join('\n')}`
  if (/DeepL-Auth-Key/i.test(head)) return ['a key on the second origin']
  const leaked = [...keys.keys()].some((key) => head.includes(key) || head.includes(encodeURIComponent(key)) || body.includes(key))
  return leaked ? ['a key on the second origin'] : []
}
