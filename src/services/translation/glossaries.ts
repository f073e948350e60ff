/** Glossaries with dictionaries for several pairs of languages; parses and writes the entries of a dictionary. */

import { ProtocolError } from '../../errors.ts'
import { utf8Length } from '../../text/utf8-length.ts'
import { ValidationError } from '../client/errors.ts'
import type { FormMembers } from '../client/request.ts'
import { LONGEST_TERM, operations } from './operations.ts'
import {
  methodsOf,
  type Result,
  type ServiceMethod,
  type TranslationCallOptions,
  type TranslationService,
  type Validation,
  withResponse,
} from './translation-service.ts'

/** The languages of the source and target terms: `en`, `de`. */
export interface GlossaryPair {
  /** Language of the source terms: `en`. */
  readonly source_lang: string
  /** Language of the target terms: `de`. */
  readonly target_lang: string
}

/** What all glossaries have. */
interface AnyGlossary {
  /** For `glossary_id` of translations. */
  readonly glossary_id: string
  /** Name of the glossary. */
  readonly name: string
  /** Time of the creation: ISO 8601. */
  readonly creation_time: string
}

/** A glossary with a dictionary for each pair of languages (`/v3/glossaries`). */
export interface MultilingualGlossary extends AnyGlossary {
  /** The dictionaries without their entries. */
  readonly dictionaries: readonly (GlossaryPair & { readonly entry_count: number })[]
}

/** The dictionary of a pair of languages, to create or change a glossary. */
export interface DictionaryInput extends GlossaryPair {
  /** Source terms with their translations in any order, or text in `entries_format`, which is sent unchanged. */
  readonly entries: GlossaryEntries | Iterable<readonly [source: string, target: string]> | Readonly<Record<string, string>> | string
  /** Format of the text: lines with a tab, or CSV (RFC 4180). Default `tsv`. */
  readonly entries_format?: 'tsv' | 'csv'
}

/** A dictionary as it is sent and returned. */
type DictionaryText = Required<DictionaryInput> & { readonly entries: string }

/**
 * Glossaries with one or more dictionaries, also those that were created on the web. A target of `EN`, `PT` or `ZH` serves every variant of
 * the language.
 *
 * Errors besides those of each call: `REQUEST_INVALID` and `REQUEST_TOO_LARGE` for invalid entries and names.
 *
 * @example
 * const { glossary_id } = await client.glossaries.create({
 *   name: 'Forest terms',
 *   dictionaries: [{ source_lang: 'en', target_lang: 'de', entries: [['canopy', 'Kronendach']] }],
 * })
 */
export interface Glossaries {
  /** Creates a glossary. Retried as `unsafe`. */
  readonly create: ServiceMethod<[glossary: NewGlossary], MultilingualGlossary>
  /** Returns all glossaries; the list has no pages. */
  readonly list: ServiceMethod<[], { readonly glossaries: readonly MultilingualGlossary[] }>
  /** Returns one glossary. */
  readonly get: ServiceMethod<[glossary_id: string], MultilingualGlossary>
  /** Changes the name, and adds entries to one dictionary. Errors: `REQUEST_INVALID` for more than one dictionary. */
  readonly update: ServiceMethod<[glossary_id: string, changes: Partial<NewGlossary>], MultilingualGlossary>
  /** Deletes a glossary. */
  readonly delete: ServiceMethod<[glossary_id: string], object>
  /** Returns the entries of one dictionary as text, for `GlossaryEntries.parse`. Errors: `RESPONSE_INVALID` if there is no such one. */
  readonly entries: ServiceMethod<[glossary_id: string, pair: GlossaryPair], DictionaryText>
  /** Creates a dictionary, or replaces its entries. */
  readonly putDictionary: ServiceMethod<[glossary_id: string, dictionary: DictionaryInput], MultilingualGlossary['dictionaries'][number]>
  /** Deletes one dictionary of a glossary. */
  readonly deleteDictionary: ServiceMethod<[glossary_id: string, pair: GlossaryPair], object>
}

interface NewGlossary {
  /** At most 1024 bytes of UTF-8. */
  readonly name: string
  /** Together at most 10 485 760 bytes. */
  readonly dictionaries: readonly DictionaryInput[]
}

export function glossariesOf(service: TranslationService): Glossaries {
  return {
    ...methodsOf<Glossaries>(service, 'glossaries'),
    create: (glossary, options) =>
      service.call('glossaries.create', (validation) => ({ body: glossaryText(glossary, validation) }), options),
    update: (glossary_id, changes, options) =>
      service.call('glossaries.update', (validation) => ({ path: { glossary_id }, body: glossaryText(changes, validation) }), options),
    putDictionary: (glossary_id, dictionary, options) =>
      service.call(
        'glossaries.putDictionary',
        (validation) => ({ path: { glossary_id }, body: dictionaryText(dictionary, validation) }),
        options,
      ),
    entries: (glossary_id, { source_lang, target_lang }, options) =>
      service.call(
        'glossaries.entries',
        { path: { glossary_id }, query: { source_lang, target_lang } },
        options,
        (answer: Result<EntriesAnswer>) => withResponse({ ...onlyDictionary(answer, { source_lang, target_lang }) }, answer.response),
      ),
  }
}

/** Services return both forms: the dictionary, or a list that contains it. */
type EntriesAnswer = DictionaryText | { readonly dictionaries: readonly DictionaryText[] }

function onlyDictionary(answer: EntriesAnswer, pair: GlossaryPair): DictionaryText {
  const found = 'dictionaries' in answer ? listed(answer.dictionaries, pair) : answer
  if (typeof found?.entries === 'string') return found
  throw new ProtocolError('RESPONSE_INVALID', 'glossaries.entries: the response has no entries for these languages', { retryable: false })
}

function listed(dictionaries: unknown, { source_lang, target_lang }: GlossaryPair): DictionaryText | undefined {
  if (!Array.isArray(dictionaries)) return undefined
  const key = `${source_lang}\t${target_lang}`.toLowerCase()
  return (dictionaries as readonly DictionaryText[]).find(
    (dictionary) => `${dictionary?.source_lang}\t${dictionary?.target_lang}`.toLowerCase() === key,
  )
}

/** A glossary of one pair of languages (`/v2/glossaries`). */
export interface Glossary extends GlossaryPair, AnyGlossary {
  /** Whether translations can use it already. */
  readonly ready: boolean
  /** Number of entries. */
  readonly entry_count: number
}

/**
 * Glossaries of version 2 of the API, with one dictionary each. Glossaries that were edited on the web or have several dictionaries need
 * {@link Glossaries}.
 *
 * @example
 * const { glossaries } = await client.glossariesV2.list()
 * for (const { glossary_id, name, ready } of glossaries) console.log(glossary_id, name, ready)
 */
export interface GlossariesV2 {
  /** Returns the pairs of languages. @deprecated Every two languages of a glossary make a pair. */
  readonly languagePairs: ServiceMethod<[], { readonly supported_languages: readonly GlossaryPair[] }>
  /** Creates a glossary. Retried as `unsafe`. Errors: those of `GlossaryEntries`, `REQUEST_TOO_LARGE` for a name of more than 1024 bytes. */
  readonly create: ServiceMethod<[glossary: { readonly name: string } & DictionaryInput], Glossary>
  /** Returns all glossaries; the list has no pages. */
  readonly list: ServiceMethod<[], { readonly glossaries: readonly Glossary[] }>
  /** Returns one glossary. */
  readonly get: ServiceMethod<[glossary_id: string], Glossary>
  /** Deletes a glossary. Errors: `HTTP_403` for a glossary that was changed by {@link Glossaries} or on the web. */
  readonly delete: ServiceMethod<[glossary_id: string], object>
  /** Returns the entries as text, for `GlossaryEntries.parse`. */
  entries(
    glossary_id: string,
    options?: TranslationCallOptions,
  ): Promise<Result<{ readonly entries: string; readonly entries_format: 'tsv' }>>
}

export function glossariesV2Of(service: TranslationService): GlossariesV2 {
  return {
    ...methodsOf<GlossariesV2>(service, 'glossariesV2'),
    create: ({ name, ...dictionary }, options) =>
      service.call('glossariesV2.create', (validation) => ({ body: { name, ...dictionaryText(dictionary, validation) } }), options),
    async entries(glossary_id, options = {}) {
      const answer = await service.send<string>(operations['glossariesV2.entries'], { path: { glossary_id } }, options)
      return withResponse({ entries: answer.data, entries_format: 'tsv' as const }, answer)
    },
  }
}

/** Returns a dictionary in the form that is sent. Errors: those of {@link GlossaryEntries}; text is checked according to `validation`. */
function dictionaryText(dictionary: DictionaryInput, validation: Validation): DictionaryText {
  const { source_lang, target_lang, entries: given, entries_format = 'tsv' } = dictionary
  const entries = typeof given === 'string' ? given : GlossaryEntries.of(given).toText(entries_format)
  if (validation !== 'off') checkGlossarySize(utf8Length(entries))
  if (typeof given === 'string' && validation === 'strict') GlossaryEntries.parse(given, entries_format, dictionary)
  if (typeof given === 'string' && validation === 'document') checkTermSizes(given, entries_format)
  return { source_lang, target_lang, entries, entries_format }
}

/** Returns a glossary in the form that is sent. Errors: those of {@link dictionaryText}; `REQUEST_TOO_LARGE` for all entries together. */
function glossaryText({ name, dictionaries }: Partial<NewGlossary>, validation: Validation): FormMembers {
  const texts = dictionaries?.map((dictionary) => dictionaryText(dictionary, validation))
  if (texts && validation !== 'off') checkGlossarySize(texts.reduce((sum, { entries }) => sum + utf8Length(entries), 0))
  return { name, dictionaries: texts }
}

/** Checks the sizes of the terms only: the interface document names no other rule. Errors: `REQUEST_TOO_LARGE`. */
function checkTermSizes(text: string, format: 'tsv' | 'csv'): void {
  const rows = format === 'csv' ? csvRows(text) : text.split(/\r?\n/).map((line) => line.split('\t'))
  for (const [index, [source, target]] of rows.entries())
    for (const term of [source, target]) if (term !== undefined) checkTermSize(term, `term ${index + 1}`)
}

/** Maximum size of a glossary in bytes. */
const LARGEST_GLOSSARY = 10_485_760

/** Source terms with their translations, in any order. */
export type EntriesInput = Exclude<DictionaryInput['entries'], string>

/**
 * The checked entries of a dictionary in their order, each source term once. Terms such as `constructor`, `__proto__` and `1` are allowed.
 *
 * @example GlossaryEntries.of([['Hello', 'Hallo']]).toText() // 'Hello\tHallo'
 */
export class GlossaryEntries implements Iterable<readonly [source: string, target: string]> {
  readonly #terms: ReadonlyMap<string, string>

  private constructor(terms: ReadonlyMap<string, string>) {
    this.#terms = terms
  }

  /**
   * Returns entries from pairs or an object. Errors: `REQUEST_INVALID` for a term that is empty, is a source term twice, begins or ends
   * with whitespace, or contains a control character or a line break; `REQUEST_TOO_LARGE` for more than 1024 bytes. Messages contain the
   * position.
   */
  static of(entries: EntriesInput): GlossaryEntries {
    if (entries instanceof GlossaryEntries) return entries
    if (typeof entries !== 'object' || entries === null)
      throw new TypeError('entries must be pairs of strings or an object; use parse for text')
    return GlossaryEntries.#collected(Symbol.iterator in entries ? entries : Object.entries(entries), 'entry')
  }

  /**
   * Parses text; a byte order mark, CRLF and a line end after the last line are allowed.
   *
   * Errors: those of {@link of}; `REQUEST_INVALID` for another number of columns; `REQUEST_TOO_LARGE` for more than 10 485 760 bytes.
   *
   * @param pair whose rows are taken where CSV has the languages in columns 3 and 4; without case
   */
  static parse(text: string, format: 'tsv' | 'csv' = 'tsv', pair?: GlossaryPair): GlossaryEntries {
    if (typeof text !== 'string') throw new TypeError('entries can only be parsed from a string')
    checkGlossarySize(utf8Length(text))
    const content = text.replace(/^\ufeff/, '')
    if (format === 'csv') return GlossaryEntries.#collected(fromCsv(content, pair), 'row')
    return GlossaryEntries.#collected(fromTsv(content), 'line')
  }

  static #collected(entries: Iterable<Placed>, unit: string): GlossaryEntries {
    const terms = new Map<string, string>()
    let count = 0
    for (const [source, target, place = ++count] of entries) {
      checkTerm(source, `${unit} ${place}: the source term`)
      checkTerm(target, `${unit} ${place}: the target term`)
      if (terms.has(source)) throw refused(`${unit} ${place}: the source term is a duplicate`)
      terms.set(source, target)
    }
    return new GlossaryEntries(terms)
  }

  /** Number of entries. */
  get size(): number {
    return this.#terms.size
  }

  /** Returns the target term of a source term. */
  get(source: string): string | undefined {
    return this.#terms.get(source)
  }

  /** Returns true if there is an entry for a source term. */
  has(source: string): boolean {
    return this.#terms.has(source)
  }

  /** Returns the entries in their order. */
  [Symbol.iterator](): IterableIterator<[source: string, target: string]> {
    return this.#terms.entries()
  }

  /**
   * Returns text with one line for each entry and no line end after the last. Errors: `REQUEST_TOO_LARGE` for more than 10 485 760 bytes.
   */
  toText(format: 'tsv' | 'csv' = 'tsv'): string {
    const write = format === 'csv' ? csvField : (term: string) => term
    const between = format === 'csv' ? ',' : '\t'
    const text = Array.from(this.#terms, ([source, target]) => write(source) + between + write(target)).join('\n')
    checkGlossarySize(utf8Length(text))
    return text
  }

  /** Returns the pairs of terms. */
  toJSON(): readonly (readonly [source: string, target: string])[] {
    return [...this.#terms]
  }
}

/** Checks the size of a glossary. Errors: `REQUEST_TOO_LARGE`. */
function checkGlossarySize(bytes: number): void {
  if (bytes <= LARGEST_GLOSSARY) return
  const message = `the entries have ${bytes} bytes, a glossary has at most ${LARGEST_GLOSSARY}`
  throw new ValidationError('REQUEST_TOO_LARGE', message, { field: 'entries', limit: LARGEST_GLOSSARY, hint: 'use several glossaries' })
}

/** One entry of a text, and the number of its line, row or entry, from 1. */
type Placed = readonly [source: string, target: string, place?: number]

function* fromTsv(text: string): Generator<Placed> {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  for (const [index, line] of lines.entries()) {
    const [source = '', target, ...more] = line.split('\t')
    if (target === undefined || more.length > 0) throw refused(`line ${index + 1} does not have exactly one tab`)
    yield [source, target, index + 1]
  }
}

function* fromCsv(text: string, pair: GlossaryPair | undefined): Generator<Placed> {
  for (const [index, [source = '', target, from, to, ...more]] of csvRows(text).entries()) {
    const place = index + 1
    if (target === undefined || more.length > 0 || (from !== undefined && to === undefined))
      throw refused(`row ${place} has neither two columns nor four`)
    if (to !== undefined && !pair) throw refused(`row ${place} names its languages: pass the pair of languages to read`)
    if (pair && to !== undefined && !(isSame(from, pair.source_lang) && isSame(to, pair.target_lang))) continue
    yield [source, target, place]
  }
}

function isSame(one: string | undefined, other: string): boolean {
  return one?.trim().toLowerCase() === other.toLowerCase()
}

function refused(message: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', message, { field: 'entries' })
}

/** A field without quotes, and the end of a field (RFC 4180 §2). */
const PLAIN = /[^",\r\n]*/y

const END = /,|\r?\n|$/y

/**
 * Parses the rows of comma-separated text (RFC 4180). Lines end with CRLF or LF, which is optional after the last one.
 *
 * Errors: `REQUEST_INVALID` with the number of the row for quotes that do not match or are inside a field without quotes.
 */
function csvRows(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const field = fieldAt(text, at)
    const end = field && matchAt(END, text, field.end)
    if (!field || end === undefined) throw broken(rows.length + 1)
    row.push(field.value)
    at = field.end + end.length
    if (end === ',') {
      if (at < text.length) continue
      row.push('')
    }
    rows.push(row)
    row = []
  }
  return rows
}

/**
 * Returns the field at a position; `undefined` for an unclosed quote. Searches for quotes instead of using a pattern, because a field may
 * be too long for a pattern with repeated alternatives.
 */
function fieldAt(text: string, at: number): { readonly value: string; readonly end: number } | undefined {
  if (text[at] !== '"') {
    const value = matchAt(PLAIN, text, at) ?? ''
    return { value, end: at + value.length }
  }
  let close = text.indexOf('"', at + 1)
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  return close < 0 ? undefined : { value: text.slice(at + 1, close).replaceAll('""', '"'), end: close + 1 }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** Returns a value as a CSV field, in quotes where necessary. */
function csvField(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

function broken(row: number): ValidationError {
  const hint = 'put the whole field in quotes and double each quote inside'
  return new ValidationError('REQUEST_INVALID', `row ${row} is not valid CSV: misplaced quote`, { field: 'entries', hint })
}

/** Control characters (C0, DEL, C1) and the line separators of Unicode. */
const UNFIT = /[\0-\x1f\x7f-\x9f\u2028\u2029]/

/** Checks one term. Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE`, with the position and never with the term. */
function checkTerm(term: unknown, at: string): asserts term is string {
  if (typeof term !== 'string') throw new TypeError(`${at} is not a string`)
  if (term === '') throw refused(`${at} is empty`)
  if (UNFIT.test(term)) throw refused(`${at} has a control character or a line break in it`)
  if (term.trim() !== term) throw refused(`${at} begins or ends with whitespace`)
  if (!term.isWellFormed()) throw refused(`${at} has an unpaired surrogate in it`)
  checkTermSize(term, at)
}

/** Checks the size of a term. Errors: `REQUEST_TOO_LARGE`. */
function checkTermSize(term: string, at: string): void {
  const { most: limit } = LONGEST_TERM
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  if (term.length * 3 <= limit || utf8Length(term) <= limit) return
  throw new ValidationError('REQUEST_TOO_LARGE', `${at} has more than ${limit} bytes in UTF-8`, { field: 'entries', limit })
}
