import { type Entries, readEntries } from './glossary-entries.ts'
import { isGlossaryLanguage } from './languages.ts'
import { refuse, refuseSilently } from './refuse.ts'
import { refuseEntries } from './refuse-entries.ts'
import type { TranslationState } from './state.ts'

/** The terms of one pair of languages, in lower case. */
export interface Dictionary {
  readonly source_lang: string
  readonly target_lang: string
  readonly entries: Entries
}

/** One store, seen by two families of operations. */
export interface Glossary {
  readonly id: string
  name: string
  readonly createdAt: number
  dictionaries: readonly Dictionary[]
  /** Made or changed by the newer family: the older one may not delete it. */
  newer: boolean
}

/** A dictionary as it is sent. */
export interface SentDictionary {
  readonly source_lang?: unknown
  readonly target_lang?: unknown
  readonly entries?: unknown
  readonly entries_format?: unknown
}

/** Keeps a new glossary; 456 without a body when there are too many. */
export function addGlossary(state: TranslationState, name: string, dictionaries: readonly Dictionary[], newer: boolean): Glossary {
  checkName(name)
  if (state.glossaries.size >= state.settings.maxGlossaries) refuseSilently(456)
  const glossary = { id: state.ids.uuid(), name, createdAt: state.clock.now(), dictionaries, newer }
  state.glossaries.set(glossary.id, glossary)
  return glossary
}

export function glossaryOf(state: TranslationState, id: string): Glossary {
  return state.glossaries.get(id) ?? refuse(404, 'Glossary not found')
}

/** Reads a dictionary and all of its terms. */
export function readDictionary({ source_lang, target_lang, entries, entries_format }: SentDictionary): Dictionary {
  const pair = readPair(source_lang, target_lang)
  if (typeof entries !== 'string') return refuseEntries("Value for 'entries' is missing.")
  if (entries_format !== 'tsv' && entries_format !== 'csv') return refuseEntries("Value for 'entries_format' not supported.")
  return { ...pair, entries: readEntries(entries, entries_format, pair.source_lang, pair.target_lang) }
}

/** Two different languages without regions, in lower case. */
export function readPair(source: unknown, target: unknown): Pick<Dictionary, 'source_lang' | 'target_lang'> {
  if (typeof source !== 'string' || typeof target !== 'string')
    return refuseEntries("Values for 'source_lang' and 'target_lang' are needed.")
  if (!isGlossaryLanguage(source) || !isGlossaryLanguage(target)) refuseEntries('Unsupported glossary language.')
  if (source.toLowerCase() === target.toLowerCase()) refuseEntries('Source and target language are the same.')
  return { source_lang: source.toLowerCase(), target_lang: target.toLowerCase() }
}

/** True for dictionaries of the same pair. */
export function samePair(a: Pick<Dictionary, 'source_lang' | 'target_lang'>): (b: Dictionary) => boolean {
  return (b) => a.source_lang === b.source_lang && a.target_lang === b.target_lang
}

/** A name is never empty and has at most 1024 bytes. */
export function checkName(name: string): void {
  if (name.trim() === '' || Buffer.byteLength(name) > 1024) refuseEntries('The name is empty or longer than 1024 bytes.')
}
