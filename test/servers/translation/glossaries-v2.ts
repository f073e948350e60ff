import { jsonReply, type Reply } from '../service/reply.ts'
import type { Fields } from './fields.ts'
import { writeTsv } from './glossary-entries.ts'
import { addGlossary, type Dictionary, type Glossary, glossaryOf, readDictionary } from './glossary-store.ts'
import { glossaryLanguages } from './languages.ts'
import { readBody } from './read-body.ts'
import { refuse, refuseSilently } from './refuse.ts'
import type { Call, TranslationState } from './state.ts'

const FIELDS: Fields = {
  name: { type: 'string', required: true },
  source_lang: { type: 'string', required: true },
  target_lang: { type: 'string', required: true },
  entries: { type: 'string', required: true },
  entries_format: { type: 'string', required: true },
}

/** Operation 12. */
export function languagePairs(): Reply {
  const supported_languages = glossaryLanguages.flatMap((source_lang) =>
    glossaryLanguages.filter((target) => target !== source_lang).map((target_lang) => ({ source_lang, target_lang })),
  )
  return jsonReply(200, { supported_languages })
}

/** Operation 21. */
export function createOldGlossary(call: Call): Reply {
  const values = readBody(call, FIELDS)
  const glossary = addGlossary(call.state, String(values.name), [readDictionary(values)], false)
  return jsonReply(201, view(call.state, glossary))
}

/** Operation 22: those with one dictionary. */
export function listOldGlossaries({ state }: Call): Reply {
  const glossaries = [...state.glossaries.values()].filter(({ dictionaries }) => dictionaries.length === 1)
  return jsonReply(200, { glossaries: glossaries.map((glossary) => view(state, glossary)) })
}

/** Operation 23. */
export function getOldGlossary(call: Call): Reply {
  return jsonReply(200, view(call.state, ownGlossary(call)))
}

/** Operation 24: 403 without a body for what the newer family made or changed. */
export function deleteOldGlossary(call: Call): Reply {
  const { id, newer } = ownGlossary(call)
  if (newer) refuseSilently(403)
  call.state.glossaries.delete(id)
  return { status: 204 }
}

/** Operation 25. */
export function getOldEntries(call: Call): Reply {
  const { entries } = onlyDictionary(ownGlossary(call))
  const types = String(call.request.headers.accept ?? '').split(',')
  if (!types.some((type) => type.trim().startsWith('text/tab-separated-values'))) refuseSilently(415)
  return { status: 200, headers: { 'Content-Type': 'text/tab-separated-values; charset=UTF-8' }, body: writeTsv(entries) }
}

function ownGlossary({ state, request }: Call): Glossary {
  const glossary = glossaryOf(state, request.params.glossary_id ?? '')
  return glossary.dictionaries.length === 1 ? glossary : refuse(404, 'Glossary not found')
}

function onlyDictionary({ dictionaries: [only] }: Glossary): Dictionary {
  return only ?? refuse(404, 'Glossary not found')
}

function view({ clock, settings }: TranslationState, glossary: Glossary) {
  const { source_lang, target_lang, entries } = onlyDictionary(glossary)
  return {
    glossary_id: glossary.id,
    name: glossary.name,
    ready: clock.now() - glossary.createdAt >= settings.glossaryReadyMs,
    ...{ source_lang, target_lang, creation_time: new Date(glossary.createdAt).toISOString(), entry_count: entries.size },
  }
}
