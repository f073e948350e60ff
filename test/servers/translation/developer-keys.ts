import { jsonReply, type Reply } from '../service/reply.ts'
import type { KeyRecord } from './account.ts'
import type { Fields, Values } from './fields.ts'
import { readBody } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call } from './state.ts'

const KEY_ID: Fields = { key_id: { type: 'string', required: true } }
const MOST_ACTIVE = { free: 2, pro: 25 }

/** Operation 3. The new key is the part of its identifier behind the colon. */
export function createKey(call: Call): Reply {
  const { state } = call
  const { label = 'DeepL API Key' } = readBody(call, { label: { type: 'string' } }) as { label?: string }
  const { plan } = state.settings
  if (developerKeys(call).filter(({ deactivatedAt }) => deactivatedAt === undefined).length >= MOST_ACTIVE[plan])
    refuse(400, 'Too many active keys')
  const [first, key] = [state.ids.uuid(), state.ids.uuid()]
  const none = { scopes: undefined, quota: undefined, deactivatedAt: undefined, characterLimit: null, speechLimit: null, used: 0 }
  const record: KeyRecord = { key, plan, role: 'developer', keyId: `${first}:${key}`, label, createdAt: state.clock.now(), ...none }
  state.keys.set(key, record)
  return jsonReply(200, view(record))
}

/** Operation 4: with those that are deactivated. */
export function listKeys(call: Call): Reply {
  return jsonReply(200, developerKeys(call).map(view))
}

/** Operation 5: at once, for ever, and as often as one likes. */
export function deactivateKey(call: Call): Reply {
  const record = namedKey(call, readBody(call, KEY_ID))
  record.deactivatedAt ??= call.state.clock.now()
  return jsonReply(200, view(record))
}

/** Operation 6. */
export function renameKey(call: Call): Reply {
  const values = readBody(call, { ...KEY_ID, label: { type: 'string', required: true } })
  const record = namedKey(call, values)
  record.label = String(values.label)
  return jsonReply(200, view(record))
}

/** Operation 7: what is left out stays, null is without a limit, 0 is nothing. */
export function limitKey(call: Call): Reply {
  const values = readBody(call, { ...KEY_ID, characters: { type: 'limit' }, speech_to_text_milliseconds: { type: 'limit' } })
  const record = namedKey(call, values)
  const { characters, speech_to_text_milliseconds: speech } = values as Record<string, number | null | undefined>
  if (characters !== undefined) record.characterLimit = characters
  if (speech !== undefined) record.speechLimit = speech
  return jsonReply(200, view(record))
}

function developerKeys({ state }: Call): readonly KeyRecord[] {
  return [...state.keys.values()].filter(({ role, plan }) => role === 'developer' && plan === state.settings.plan)
}

function namedKey(call: Call, { key_id: id }: Values): KeyRecord {
  return developerKeys(call).find(({ keyId }) => keyId === id) ?? refuse(404, 'Key not found')
}

function view({ keyId, label, createdAt, deactivatedAt, characterLimit, speechLimit }: KeyRecord) {
  return {
    ...{ key_id: keyId, label, creation_time: new Date(createdAt).toISOString() },
    deactivated_time: deactivatedAt === undefined ? null : new Date(deactivatedAt).toISOString(),
    is_deactivated: deactivatedAt !== undefined,
    usage_limits: { characters: characterLimit, speech_to_text_milliseconds: speechLimit },
  }
}
