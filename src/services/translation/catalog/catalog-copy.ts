/** The implementation of `translateCatalog`, loaded on first use. */
import { type AuthError, ConfigurationError } from '../../../errors.ts'
import { isObject, own, ownString, pointer } from '../../../stac/document.ts'
import { applyEdits, type Edit, JsonText } from '../../../stac/json-text.ts'
import { parseDocument } from '../../../stac/parse-document.ts'
import type { TextOutcome, TranslatedTexts } from '../translate-many.ts'
import type { Translation } from '../translate-text.ts'
import type { TranslationClient } from '../translation-client.ts'
import { inForm, KEPT_TAG, type MarkdownPart, markdownParts, type TaggedProse, taggedProse } from './markdown-parts.ts'
import type { CatalogTranslationOptions, TranslatedCatalog } from './translate-catalog.ts'

/** Returns the translated copy of a document; see `translateCatalog`. */
export async function catalogCopy(
  client: Pick<TranslationClient, 'translateMany'>,
  text: string,
  options: CatalogTranslationOptions,
): Promise<TranslatedCatalog> {
  const documents = catalogDocuments(parseDocument(text))
  if (documents.length === 0)
    throw new ConfigurationError('TARGET_NOT_FOUND', 'the document is not a Catalog, Collection or Item, or a list of them')
  const target = languageTag(options.target_lang)
  const isOpen = ({ metadata }: CatalogDocument) => ownString(own(metadata, 'language'), 'code')?.toLowerCase() !== target.toLowerCase()
  const open = documents.filter(isOpen)
  const places = open.flatMap(catalogTexts).flatMap((place) => {
    const parts = partsOf(place)
    return parts.some(({ sent }) => sent) ? [{ pointer: place.pointer, parts }] : []
  })
  const prose = places.flatMap(({ parts }) => parts.flatMap(({ sent }) => sent ?? []))
  const { texts, failed, source: detected, characters } = await translations(client, prose, options)
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const json = new JsonText(text.slice(mark.length))
  const kept: string[] = []
  const missing: { readonly pointer: string; readonly error: AuthError }[] = []
  const edits = places.flatMap(({ pointer: at, parts }) => {
    const written = parts.map((part) => part.write(texts))
    const error = parts.flatMap(({ sent }) => (sent && failed.get(sent.text)) ?? [])[0]
    if (error) missing.push({ pointer: at, error })
    else if (written.includes(undefined)) kept.push(at)
    return json.replace(at, parts.map(({ original }, index) => written[index] ?? original).join('')) ?? []
  })
  const source = options.source_lang ?? detected
  const fields = open.flatMap((document) => languageEdits(json, document, target, source && languageTag(source)))
  const copy = mark + applyEdits(text.slice(mark.length), [...edits, ...fields])
  return { text: copy, places: places.length, sent: texts.size, characters, kept, ...(options.partial && { missing }) }
}

/** A part of a text. */
interface TextPart {
  readonly original: string
  /** The prose that is sent, if the part is translated. */
  readonly sent?: TaggedProse
  /** Returns the part with the translations; `undefined` if the service lost its markup. */
  write(texts: ReadonlyMap<string, string>): string | undefined
}

function partsOf({ text, markdown }: CatalogText): readonly TextPart[] {
  const parts: readonly MarkdownPart[] = markdown ? markdownParts(text) : [{ prose: text }]
  return parts.map((part) => {
    if ('kept' in part) return { original: part.kept, write: () => part.kept }
    const { prose, isCell = false } = part
    const sent: TaggedProse = markdown ? taggedProse(prose) : { text: prose, tagged: false, restore: (translation) => translation }
    const write = (texts: ReadonlyMap<string, string>) => {
      const translation = texts.get(sent.text)
      const restored = translation === undefined ? undefined : sent.restore(translation)
      return restored === undefined || !markdown ? restored : inForm(restored, prose, isCell)
    }
    return { original: prose, sent, write }
  })
}

interface TranslatedParts {
  /** Translations by the text that was sent. */
  readonly texts: ReadonlyMap<string, string>
  /** Errors by the text that was not translated; empty without `partial`. */
  readonly failed: ReadonlyMap<string, AuthError>
  /** The most frequent detected language. */
  readonly source: string | undefined
  readonly characters: number
}

/** Translates in two groups, because a request is handled as XML for all of its texts or for none. */
async function translations(
  client: Pick<TranslationClient, 'translateMany'>,
  prose: readonly TaggedProse[],
  { signal, concurrency, reportingTag, partial = false, ...params }: CatalogTranslationOptions,
): Promise<TranslatedParts> {
  const calls = { ...(signal && { signal }), ...(concurrency && { concurrency }), ...(reportingTag !== undefined && { reportingTag }) }
  const texts = new Map<string, string>()
  const failed = new Map<string, AuthError>()
  const languages = new Map<string, number>()
  let characters = 0
  for (const tagged of [false, true]) {
    const group = [...new Set(prose.flatMap((one) => (one.tagged === tagged ? [one.text] : [])))]
    if (group.length === 0) continue
    const tags = tagged ? { tag_handling: 'xml', outline_detection: false, ignore_tags: [KEPT_TAG] } : {}
    const found = client.translateMany(group, { ...params, ...tags }, calls)
    for (const outcome of partial ? await outcomesOf(found) : (await found.toArray()).map(translated)) {
      const text = group[outcome.index]
      if (text === undefined) continue
      if ('error' in outcome) {
        failed.set(text, outcome.error)
        continue
      }
      const { text: translation, detected_source_language: language = '' } = outcome.translation
      texts.set(text, translation)
      languages.set(language, (languages.get(language) ?? 0) + 1)
      for (const _character of text) characters++
    }
  }
  const [source] = [...languages].sort(([, one], [, other]) => other - one)[0] ?? []
  return { texts, failed, source: source || undefined, characters }
}

async function outcomesOf(found: TranslatedTexts): Promise<readonly TextOutcome[]> {
  const outcomes: TextOutcome[] = []
  for await (const outcome of found) outcomes.push(outcome)
  return outcomes
}

function translated(translation: Translation, index: number): TextOutcome {
  return { index, translation }
}

/** A text in a document. */
interface CatalogText {
  /** Pointer to the text, from the root of the parsed JSON. */
  readonly pointer: string
  readonly text: string
  /** True for CommonMark. */
  readonly markdown: boolean
}

/** A catalog, collection or item in the parsed JSON: the root, a feature of an ItemCollection, or a collection in a list of an API. */
interface CatalogDocument {
  /** Pointer from the root of the parsed JSON; empty for the root. */
  readonly at: string
  readonly document: unknown
  /** The common metadata, which is in `properties` of an item, and the pointer to it. */
  readonly metadata: unknown
  readonly holder: string
}

/** A path of names; `*` matches every member or element. */
type Steps = readonly string[]

/** Texts in the common metadata of STAC 1.1. Names of people, licenses, identifiers and summaries are not translated. */
const METADATA: readonly Steps[] = [
  ['title'],
  ['description'],
  ['keywords', '*'],
  ['providers', '*', 'description'],
  ['auth:schemes', '*', 'description'],
  ['storage:schemes', '*', 'title'],
  ['storage:schemes', '*', 'description'],
  ['bands', '*', 'description'],
]

const ASSET: readonly Steps[] = [
  ['title'],
  ['description'],
  ['bands', '*', 'description'],
  ['eo:bands', '*', 'description'],
  ['raster:bands', '*', 'description'],
  ['alternate', '*', 'title'],
  ['alternate', '*', 'description'],
]

const PARTS: readonly Steps[] = [
  ['links', '*', 'title'],
  ...['assets', 'item_assets'].flatMap((map) => ASSET.map((steps) => [map, '*', ...steps])),
]

/** Returns the documents in a parsed JSON text. */
function catalogDocuments(root: unknown): readonly CatalogDocument[] {
  const single = documentAt(root, '')
  if (single) return [single]
  return ['features', 'collections'].flatMap((name) => {
    const list = own(root, name)
    return Array.isArray(list) ? list.flatMap((document, index) => documentAt(document, pointer('', name, index)) ?? []) : []
  })
}

function documentAt(document: unknown, at: string): CatalogDocument | undefined {
  const type = own(document, 'type')
  if (type === 'Feature') return { at, document, metadata: own(document, 'properties'), holder: `${at}/properties` }
  return type === 'Catalog' || type === 'Collection' ? { at, document, metadata: document, holder: at } : undefined
}

/** Returns the texts of a document that are not blank. */
function catalogTexts({ at, document, metadata, holder }: CatalogDocument): readonly CatalogText[] {
  return [...METADATA.flatMap((steps) => textsAt(metadata, steps, holder)), ...PARTS.flatMap((steps) => textsAt(document, steps, at))]
}

function textsAt(value: unknown, steps: Steps, at: string): readonly CatalogText[] {
  const [name, ...rest] = steps
  if (name === undefined) return typeof value === 'string' && value.trim() !== '' ? [{ pointer: at, text: value, markdown: false }] : []
  if (name === '*') {
    const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return inner.flatMap(([key, member]) => textsAt(member, rest, pointer(at, key)))
  }
  const texts = textsAt(own(value, name), rest, pointer(at, name))
  return name === 'description' ? texts.map((text) => ({ ...text, markdown: true })) : texts
}

const EXTENSION = 'https://stac-extensions.github.io/language/v1.0.0/schema.json'

const ANY_VERSION = /^https:\/\/stac-extensions\.github\.io\/language\/v[\d.]+\/schema\.json$/

/** Languages with right-to-left scripts, by primary subtag. */
const RIGHT_TO_LEFT = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'ks', 'ps', 'sd', 'ug', 'ur', 'yi'])

/** Returns a language code in the form of RFC 5646: `de` for `DE`, `zh-Hans` for `ZH-HANS`; other texts are returned unchanged. */
function languageTag(code: string): string {
  try {
    return Intl.getCanonicalLocales(code)[0] ?? code
  } catch {
    return code
  }
}

/**
 * Sets `language` to `target`, adds `source` (if it is known) to `languages`, and declares the extension. Languages that were listed before
 * stay listed.
 */
function languageEdits(json: JsonText, place: CatalogDocument, target: string, source: string | undefined): readonly Edit[] {
  const { at, document, holder, metadata } = place
  const [base = ''] = target.toLowerCase().split('-')
  const language = { code: target, ...(RIGHT_TO_LEFT.has(base) && { dir: 'rtl' }) }
  const others = otherLanguages(metadata, target, source)
  const wanted: Readonly<Record<string, unknown>> = { language, ...(others.length > 0 && { languages: others }) }
  const declared = own(document, 'stac_extensions')
  const missing = {
    ...Object.fromEntries(Object.entries(wanted).filter(([name]) => own(metadata, name) === undefined)),
    ...(holder === at && declared === undefined && { stac_extensions: [EXTENSION] }),
  }
  const known = Object.entries(wanted).filter(([name]) => !(name in missing))
  return [
    ...known.flatMap(([name, value]) => json.replace(pointer(holder, name), value) ?? []),
    ...(Object.keys(missing).length > 0 ? (json.insertAll(holder, missing) ?? []) : []),
    ...declaration(json, place, declared),
  ]
}

function declaration(json: JsonText, { at, holder }: CatalogDocument, declared: unknown): readonly Edit[] {
  if (Array.isArray(declared) && !declared.some((url) => typeof url === 'string' && ANY_VERSION.test(url)))
    return json.push(`${at}/stac_extensions`, EXTENSION) ?? []
  return declared === undefined && holder !== at ? (json.insert(at, 'stac_extensions', [EXTENSION]) ?? []) : []
}

function otherLanguages(metadata: unknown, target: string, source: string | undefined): readonly unknown[] {
  const listed = own(metadata, 'languages')
  const before = own(metadata, 'language')
  const original = isObject(before) && ownString(before, 'code') ? before : source === undefined ? undefined : { code: source }
  const all = [...(Array.isArray(listed) ? listed : []), ...(original ? [original] : [])]
  const seen = new Set([target.toLowerCase()])
  return all.filter((language) => {
    const code = ownString(language, 'code')?.toLowerCase()
    if (code === undefined) return true
    if (seen.has(code)) return false
    seen.add(code)
    return true
  })
}
