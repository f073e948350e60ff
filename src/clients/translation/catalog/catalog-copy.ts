/** The work of `translateCatalog`. */
import { ConfigurationError } from '../../../errors.ts'
import { applyEdits, JsonText } from '../../../stac/json-text.ts'
import { parseDocument } from '../../../stac/parse-document.ts'
import type { TranslationClient } from '../translation-client.ts'
import { type CatalogText, catalogDocuments, catalogTexts } from './catalog-texts.ts'
import { KEPT_TAG, type TaggedProse, taggedProse } from './inline-markup.ts'
import { languageEdits, languageOf, languageTag } from './language-edits.ts'
import { type MarkdownPart, markdownParts } from './markdown-parts.ts'
import { inForm } from './same-form.ts'
import type { CatalogTranslationOptions, TranslatedCatalog } from './translate-catalog.ts'

/** The copy of a document; `translateCatalog` says what it promises. */
export async function catalogCopy(
  client: Pick<TranslationClient, 'translateMany'>,
  text: string,
  options: CatalogTranslationOptions,
): Promise<TranslatedCatalog> {
  const root = parseDocument(text)
  const documents = catalogDocuments(root)
  if (documents.length === 0)
    throw new ConfigurationError('TARGET_NOT_FOUND', 'the document is no catalog, collection or item, and no list of them')
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

/** A text and its parts; `prose` in the order of the parts that are prose. */
interface Place {
  readonly pointer: string
  readonly markdown: boolean
  readonly parts: readonly MarkdownPart[]
  readonly prose: readonly TaggedProse[]
}

function placeOf({ pointer, text, markdown }: CatalogText): Place {
  const parts: readonly MarkdownPart[] = markdown ? markdownParts(text) : [{ prose: text }]
  const prose = parts.flatMap((part) => ('prose' in part ? [markdown ? taggedProse(part.prose) : plain(part.prose)] : []))
  return { pointer, markdown, parts, prose }
}

function plain(text: string): TaggedProse {
  return { text, tagged: false, restore: (translation) => translation }
}

interface Translations {
  /** By what was sent. */
  readonly texts: ReadonlyMap<string, string>
  /** The language that most texts were in. */
  readonly source: string | undefined
  readonly sent: number
  readonly characters: number
}

/** Two groups, because the service reads either all texts of a request as XML or none. */
async function translations(
  client: Pick<TranslationClient, 'translateMany'>,
  prose: readonly TaggedProse[],
  { signal, concurrency, reportingTag, ...params }: CatalogTranslationOptions,
): Promise<Translations> {
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
