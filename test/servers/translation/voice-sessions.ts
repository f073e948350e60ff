import { jsonReply, type Reply } from '../service/reply.ts'
import type { Fields } from './fields.ts'
import { languageOf } from './languages.ts'
import { readBody, requiredQuery } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call, TranslationState } from './state.ts'
import { SOURCE_MEDIA } from './voice-media.ts'

/** A streaming session, connected or waiting for it. */
export interface VoiceSession {
  readonly id: string
  readonly choices: VoiceChoices
  /** The only one that opens the session, once. */
  token: string
  usedToken: boolean
  ended: boolean
  /** Ends the connection, while there is one. */
  disconnect: (() => void) | undefined
}

export interface VoiceChoices {
  readonly source_media_content_type: string
  readonly source_language?: string
  readonly target_languages?: readonly string[]
  readonly target_media_languages?: readonly string[]
  readonly target_media_content_type?: string
  readonly message_format?: 'json' | 'msgpack'
}

const FIELDS: Fields = {
  source_media_content_type: { type: 'string', required: true, values: [...SOURCE_MEDIA] },
  source_language: { type: 'string' },
  source_language_mode: { type: 'string', values: ['auto', 'fixed'] },
  target_languages: { type: 'strings' },
  target_media_languages: { type: 'strings' },
  target_media_content_type: { type: 'string' },
  target_media_voice: { type: 'string', values: ['male', 'female'] },
  message_format: { type: 'string', values: ['json', 'msgpack'] },
  spoken_terms_id: { type: 'string' },
  glossary_id: { type: 'string' },
  formality: { type: 'string', values: ['default', 'formal', 'more', 'informal', 'less'] },
}

/** Operation 43. */
export function createVoiceSession(call: Call, socketUrl: string): Reply {
  const { state } = call
  const choices = readBody(call, FIELDS) as unknown as VoiceChoices
  const { target_languages: targets = [], target_media_languages: spoken = [], source_language: source } = choices
  if (targets.length > 5 || spoken.length > 1) refuse(400, 'Too many target languages')
  if (![...targets, ...spoken, source ?? 'en'].every(languageOf)) refuse(400, 'Unsupported language')
  if (spoken.some((language) => !targets.includes(language))) refuse(400, 'A spoken language is no target language')
  const session: VoiceSession = {
    id: state.ids.uuid(),
    choices,
    token: state.ids.hex(48),
    usedToken: false,
    ended: false,
    disconnect: undefined,
  }
  state.voiceSessions.set(session.id, session)
  return access(session, socketUrl)
}

/** Operation 44: a new token for a session that lost its connection. One that has it loses it; an old token ends the session. */
export function reconnectVoiceSession(call: Call, socketUrl: string): Reply {
  const { state } = call
  const token = requiredQuery(call, 'token')
  const session = [...state.voiceSessions.values()].find((candidate) => candidate.token === token)
  if (!session) {
    endOwnerOf(state, token)
    return refuse(400, 'The token is not the latest one')
  }
  if (session.ended) refuse(400, 'The session has ended')
  session.disconnect?.()
  session.token = nextToken(state, session)
  session.usedToken = false
  return access(session, socketUrl)
}

const formerTokens = new WeakMap<TranslationState, Map<string, VoiceSession>>()

function nextToken(state: TranslationState, session: VoiceSession): string {
  const former = formerTokens.get(state) ?? new Map<string, VoiceSession>()
  formerTokens.set(state, former.set(session.token, session))
  return state.ids.hex(48)
}

function endOwnerOf(state: TranslationState, token: string): void {
  const session = formerTokens.get(state)?.get(token)
  if (!session) return
  session.ended = true
  session.disconnect?.()
}

function access({ id, token }: VoiceSession, streaming_url: string): Reply {
  return jsonReply(200, { streaming_url, token, session_id: id })
}
