import type { Pairs } from '../service/form-pairs.ts'
import { jsonReply, type Reply } from '../service/reply.ts'
import { type Fields, formFields, type Values } from './fields.ts'
import { writeTsv } from './glossary-entries.ts'
import {
  addGlossary,
  checkName,
  type Dictionary,
  type Glossary,
  glossaryOf,
  readDictionary,
  readPair,
  type SentDictionary,
  samePair,
} from './glossary-store.ts'
import { readBody, requiredQuery } from './read-body.ts'
import { refuse, refuseViolation } from './refuse.ts'
import { refuseEntries } from './refuse-entries.ts'
import type { Call } from './state.ts'

const GLOSSARY_FIELDS: Fields = { name: { type: 'string', required: true }, dictionaries: { type: 'objects', required: true } }
const CHANGE_FIELDS: Fields = { name: { type: 'string' }, dictionaries: { type: 'objects' } }
const DICTIONARY_FIELDS: Fields = {
  source_lang: { type: 'string', required: true },
  target_lang: { type: 'string', required: true },
  entries: { type: 'string', required: true },
  entries_format: { type: 'string', required: true },
}

/** Operation 13. */
export function createGlossary(call: Call): Reply {
  const { name, dictionaries } = readGlossary(call, GLOSSARY_FIELDS)
  const read = dictionaries?.map(readDictionary) ?? []
  if (read.length === 0) refuseEntries('A glossary needs a dictionary.')
  for (const dictionary of read)
    if (read.filter(samePair(dictionary)).length > 1) refuseEntries('Two dictionaries for one pair of languages.')
  return jsonReply(201, view(addGlossary(call.state, String(name), read, true)))
}

/** Operation 14. */
export function listGlossaries({ state }: Call): Reply {
  return jsonReply(200, { glossaries: [...state.glossaries.values()].map(view) })
}

/** Operation 15. */
export function getGlossary(call: Call): Reply {
  return jsonReply(200, view(ownGlossary(call)))
}

/** Operation 16: a new name, and terms of one dictionary that are added to those that it has. */
export function updateGlossary(call: Call): Reply {
  const glossary = ownGlossary(call)
  const { name, dictionaries = [] } = readGlossary(call, CHANGE_FIELDS)
  if (dictionaries.length > 1) refuseEntries('Only one dictionary can be changed at a time.')
  const [added] = dictionaries.map(readDictionary)
  if (name !== undefined) checkName(name)
  glossary.name = name ?? glossary.name
  glossary.newer = true
  if (!added) return jsonReply(200, view(glossary))
  const before = glossary.dictionaries.find(samePair(added))
  replace(glossary, { ...added, entries: new Map([...(before?.entries ?? []), ...added.entries]) })
  return jsonReply(200, view(glossary))
}

/** Operation 17. */
export function deleteGlossary(call: Call): Reply {
  call.state.glossaries.delete(ownGlossary(call).id)
  return { status: 204 }
}

/** Operation 18, in one of the two forms that are in use. */
export function getEntries(call: Call): Reply {
  const { source_lang, target_lang, entries } = askedDictionary(call)
  const dictionary = { source_lang, target_lang, entries: writeTsv(entries), entries_format: 'tsv' }
  return jsonReply(200, call.state.settings.entriesShape === 'wrapped' ? { dictionaries: [dictionary] } : dictionary)
}

/** Operation 19. */
export function deleteDictionary(call: Call): Reply {
  const glossary = ownGlossary(call)
  const asked = askedDictionary(call)
  glossary.dictionaries = glossary.dictionaries.filter((dictionary) => dictionary !== asked)
  glossary.newer = true
  return { status: 204 }
}

/** Operation 20. */
export function putDictionary(call: Call): Reply {
  const glossary = ownGlossary(call)
  const dictionary = readDictionary(readBody(call, DICTIONARY_FIELDS))
  replace(glossary, dictionary)
  glossary.newer = true
  return jsonReply(200, summary(dictionary))
}

function readGlossary(call: Call, fields: Fields) {
  const values = readBody(call, fields, (pairs) => nestedForm(pairs, fields))
  const { name, dictionaries } = values as { readonly name?: string; readonly dictionaries?: readonly SentDictionary[] }
  for (const dictionary of dictionaries ?? []) {
    for (const field of Object.keys(dictionary))
      if (!call.state.settings.allowExtra && !Object.hasOwn(DICTIONARY_FIELDS, field)) refuseViolation(`Unknown field '${field}'.`)
  }
  return { name, dictionaries }
}

/** Names such as `dictionaries[0].source_lang`, counted from 0 without gaps. */
function nestedForm(pairs: Pairs, fields: Fields): Values {
  const dictionaries: Record<string, string>[] = []
  const plain = pairs.filter(([name, value]) => {
    const [, index, field] = /^dictionaries\[(\d+)\]\.(\w+)$/.exec(name) ?? []
    if (index === undefined || field === undefined) return true
    if (Number(index) > dictionaries.length) refuseEntries('A gap in the numbers of dictionaries.')
    const dictionary = (dictionaries[Number(index)] ??= {})
    if (Object.hasOwn(dictionary, field)) refuseEntries(`'${name}' was given twice.`)
    dictionary[field] = value
    return false
  })
  const { dictionaries: _, ...others } = fields
  return { ...formFields(plain, others), ...(dictionaries.length && { dictionaries }) }
}

function ownGlossary({ state, request }: Call): Glossary {
  return glossaryOf(state, request.params.glossary_id ?? '')
}

function askedDictionary(call: Call): Dictionary {
  const pair = readPair(requiredQuery(call, 'source_lang'), requiredQuery(call, 'target_lang'))
  return ownGlossary(call).dictionaries.find(samePair(pair)) ?? refuse(404, 'Dictionary not found')
}

function replace(glossary: Glossary, dictionary: Dictionary): void {
  const same = samePair(dictionary)
  const index = glossary.dictionaries.findIndex(same)
  const kept = [...glossary.dictionaries]
  if (index < 0) kept.push(dictionary)
  else kept[index] = dictionary
  glossary.dictionaries = kept
}

function summary({ source_lang, target_lang, entries }: Dictionary) {
  return { source_lang, target_lang, entry_count: entries.size }
}

function view({ id, name, createdAt, dictionaries }: Glossary) {
  return { glossary_id: id, name, creation_time: new Date(createdAt).toISOString(), dictionaries: dictionaries.map(summary) }
}
