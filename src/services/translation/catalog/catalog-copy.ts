/** The implementation of `translateCatalog`, loaded on first use. */
import { ConfigurationError } from '../../../errors.ts'
import { isObject, own, ownString, pointer } from '../../../stac/document.ts'
import { applyEdits, type Edit, JsonText } from '../../../stac/json-text.ts'
import { parseDocument } from '../../../stac/parse-document.ts'
import type { TranslationClient } from '../translation-client.ts'
import { inForm, KEPT_TAG, type MarkdownPart, markdownParts, type TaggedProse, taggedProse } from './markdown-parts.ts'
import type { CatalogTranslationOptions, TranslatedCatalog } from './translate-catalog.ts'

/** Returns the translated copy of a document; see `translateCatalog`. */
export async function catalogCopy(
  client: Pick<TranslationClient, 'translateMany'>,
  text: string,
  options: CatalogTranslationOptions,
): Promise<TranslatedCatalog> {
  const root = parseDocument(text)
  const documents = catalogDocuments(root)
  if (documents.length === 0)
    throw new ConfigurationError('TARGET_NOT_FOUND', 'the document is not a Catalog, Collection or Item, or a list of them')
  const target = languageTag(options.target_lang)
  const open = documents.filter((document) => languageOf(document)?.toLowerCase() !== target.toLowerCase())
  const places = open
    .flatMap(catalogTexts)
    .map(placeOf)
    .filter(({ prose }) => prose.length > 0)
  const translated = await translations(
    client,
    places.flatMap(({ prose }) => prose),
    options,
  )
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const json = new JsonText(text.slice(mark.length))
  const kept: string[] = []
  const edits = places.flatMap((place) => {
    const { text: value, complete } = rewritten(place, translated.texts)
    if (!complete) kept.push(place.pointer)
    return json.replace(place.pointer, value) ?? []
  })
  const source = options.source_lang ?? translated.source
  const fields = open.flatMap((document) => languageEdits(json, document, target, source && languageTag(source)))
  const { sent, characters } = translated
  return { text: mark + applyEdits(text.slice(mark.length), [...edits, ...fields]), places: places.length, sent, characters, kept }
}

/** A text and its parts; `prose` contains the translatable ones in their order. */
interface Place {
  readonly pointer: string
  readonly markdown: boolean
  readonly parts: readonly MarkdownPart[]
  readonly prose: readonly TaggedProse[]
}

function placeOf({ pointer: at, text, markdown }: CatalogText): Place {
  const parts: readonly MarkdownPart[] = markdown ? markdownParts(text) : [{ prose: text }]
  const prose = parts.flatMap((part) => ('prose' in part ? [markdown ? taggedProse(part.prose) : plain(part.prose)] : []))
  return { pointer: at, markdown, parts, prose }
}

function plain(text: string): TaggedProse {
  return { text, tagged: false, restore: (translation) => translation }
}

interface TranslatedParts {
  /** Translations by the text that was sent. */
  readonly texts: ReadonlyMap<string, string>
  /** The most frequent detected language. */
  readonly source: string | undefined
  readonly sent: number
  readonly characters: number
}

/** Translates in two groups, because a request is handled as XML for all of its texts or for none. */
async function translations(
  client: Pick<TranslationClient, 'translateMany'>,
  prose: readonly TaggedProse[],
  { signal, concurrency, reportingTag, ...params }: CatalogTranslationOptions,
): Promise<TranslatedParts> {
  const calls = { ...(signal && { signal }), ...(concurrency && { concurrency }), ...(reportingTag !== undefined && { reportingTag }) }
  const texts = new Map<string, string>()
  const languages = new Map<string, number>()
  let characters = 0
  for (const tagged of [false, true]) {
    const group = [...new Set(prose.flatMap((one) => (one.tagged === tagged ? [one.text] : [])))]
    if (group.length === 0) continue
    const tags = tagged ? { tag_handling: 'xml', outline_detection: false, ignore_tags: [KEPT_TAG] } : {}
    const found = await client.translateMany(group, { ...params, ...tags }, calls).toArray()
    found.forEach(({ text: translation, detected_source_language: language = '' }, index) => {
      const text = group[index]
      if (text === undefined) return
      texts.set(text, translation)
      languages.set(language, (languages.get(language) ?? 0) + 1)
      for (const _character of text) characters++
    })
  }
  const [source] = [...languages].sort(([, one], [, other]) => other - one)[0] ?? []
  return { texts, source: source || undefined, sent: texts.size, characters }
}

function rewritten(
  { markdown, parts, prose }: Place,
  texts: ReadonlyMap<string, string>,
): { readonly text: string; readonly complete: boolean } {
  let complete = true
  let next = 0
  const text = parts.map((part) => {
    if ('kept' in part) return part.kept
    const tagged = prose[next++]
    const translation = tagged && texts.get(tagged.text)
    const restored = translation === undefined ? undefined : tagged?.restore(translation)
    if (restored === undefined) complete = false
    if (restored === undefined) return part.prose
    return markdown ? inForm(restored, part.prose, part.isCell === true) : restored
  })
  return { text: text.join(''), complete }
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
  /** Pointer to the object with the common metadata: `properties` of an item, else the document. */
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

/** Returns the documents in a parsed JSON text, outer ones first. */
function catalogDocuments(root: unknown): readonly CatalogDocument[] {
  const type = own(root, 'type')
  if (type === 'Feature') return [{ at: '', document: root, holder: '/properties' }]
  if (type === 'Catalog' || type === 'Collection') return [{ at: '', document: root, holder: '' }]
  return ['features', 'collections'].flatMap((name) => {
    const list = own(root, name)
    return Array.isArray(list) ? list.flatMap((document, index) => inList(document, pointer('', name, index))) : []
  })
}

/** Returns the texts of a document that are not blank. */
function catalogTexts({ at, document, holder }: CatalogDocument): readonly CatalogText[] {
  const metadata = holder === at ? document : own(document, 'properties')
  return [...METADATA.flatMap((steps) => textsAt(metadata, steps, holder)), ...PARTS.flatMap((steps) => textsAt(document, steps, at))]
}

function inList(document: unknown, at: string): readonly CatalogDocument[] {
  return catalogDocuments(document)
    .filter((found) => found.at === '')
    .map(({ holder }) => ({ at, document, holder: at + holder }))
}

function textsAt(value: unknown, steps: Steps, at: string): readonly CatalogText[] {
  const [name, ...rest] = steps
  if (name === undefined) return typeof value === 'string' && value.trim() !== '' ? [{ pointer: at, text: value, markdown: false }] : []
  if (name === '*') {
    const inner: readonly (readonly [string | number, unknown])[] = Array.isArray(value) ? [...value.entries()] : members(value)
    return inner.flatMap(([key, member]) => textsAt(member, rest, pointer(at, key)))
  }
  const texts = textsAt(own(value, name), rest, pointer(at, name))
  return name === 'description' ? texts.map((text) => ({ ...text, markdown: true })) : texts
}

function members(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
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

/** Returns the language that a document declares. */
function languageOf({ document, holder, at }: CatalogDocument): string | undefined {
  return ownString(own(metadataOf({ document, holder, at }), 'language'), 'code')
}

/**
 * Sets `language` to `target`, adds `source` (if it is known) to `languages`, and declares the extension. Languages that were listed before
 * stay listed.
 */
function languageEdits(json: JsonText, place: CatalogDocument, target: string, source: string | undefined): readonly Edit[] {
  const { at, document, holder } = place
  const metadata = metadataOf(place)
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

function metadataOf({ document, holder, at }: CatalogDocument): unknown {
  return holder === at ? document : own(document, 'properties')
}
