import { jsonReply, type Reply } from '../service/reply.ts'
import type { Fields } from './fields.ts'
import { pageOf } from './paging.ts'
import { queryValue, readBody, readJson } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call } from './state.ts'
import { readInstructions, readRules, type StyleList, styleOf, touch } from './style-store.ts'

const LANGUAGES = ['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'zh']
const FIELDS: Fields = {
  name: { type: 'string', required: true, longest: 1024 },
  language: { type: 'string', required: true },
  configured_rules: { type: 'object' },
  custom_instructions: { type: 'objects' },
}

/** Operation 33: no total; the last page is a short one. */
export function listStyles(call: Call): Reply {
  const detailed = queryValue(call.request.query, 'detailed') ?? 'false'
  if (detailed !== 'true' && detailed !== 'false') refuse(400, "Value for 'detailed' not supported.")
  const lists = pageOf(call, [...call.state.styles.values()])
  return jsonReply(200, { style_rules: lists.map((list) => (detailed === 'true' ? detailedView(list) : view(list))) })
}

/** Operation 34. */
export function createStyle(call: Call): Reply {
  const { state } = call
  const values = readBody(call, FIELDS)
  const language = String(values.language).toLowerCase()
  if (!LANGUAGES.includes(language)) refuse(400, "Value for 'language' not supported.")
  const rules = values.configured_rules === undefined ? {} : readRules(values.configured_rules)
  const instructions = readInstructions((values.custom_instructions as readonly unknown[] | undefined) ?? [], state)
  const times = { createdAt: state.clock.now(), updatedAt: state.clock.now(), version: 1 }
  const list: StyleList = { id: state.ids.uuid(), name: nameOf(values.name), language, ...times, rules, instructions }
  state.styles.set(list.id, list)
  return jsonReply(201, detailedView(list))
}

/** Operation 35. */
export function getStyle(call: Call): Reply {
  return jsonReply(200, detailedView(styleOf(call)))
}

/** Operation 36. */
export function renameStyle(call: Call): Reply {
  const list = styleOf(call)
  const { name } = readBody(call, { name: { type: 'string', longest: 1024 } })
  if (name !== undefined) {
    list.name = nameOf(name)
    touch(list, call.state)
  }
  return jsonReply(200, detailedView(list))
}

/** Operation 37. */
export function deleteStyle(call: Call): Reply {
  call.state.styles.delete(styleOf(call).id)
  return { status: 204 }
}

/** Operation 38: the body is the whole of the rules. */
export function setRules(call: Call): Reply {
  const list = styleOf(call)
  list.rules = readRules(readJson(call))
  touch(list, call.state)
  return jsonReply(200, detailedView(list))
}

function nameOf(name: unknown): string {
  return String(name).trim() === '' ? refuse(400, "Value for 'name' is empty.") : String(name)
}

function view({ id, name, language, createdAt, updatedAt, version }: StyleList) {
  const times = { creation_time: new Date(createdAt).toISOString(), updated_time: new Date(updatedAt).toISOString() }
  return { style_id: id, name, ...times, language, version }
}

function detailedView(list: StyleList) {
  return { ...view(list), configured_rules: list.rules, custom_instructions: list.instructions }
}
