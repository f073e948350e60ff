/** The fields of the STAC Language extension (v1.0.0) in a translated copy. */
import { isObject, own, ownString, pointer } from '../../../stac/json.ts'
import type { Edit, JsonText } from '../../../stac/json-text.ts'
import type { CatalogDocument } from './catalog-texts.ts'

const EXTENSION = 'https://stac-extensions.github.io/language/v1.0.0/schema.json'
const ANY_VERSION = /^https:\/\/stac-extensions\.github\.io\/language\/v[\d.]+\/schema\.json$/
/** Languages of right-to-left scripts, by the primary subtag. */
const RIGHT_TO_LEFT = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'ks', 'ps', 'sd', 'ug', 'ur', 'yi'])

/** The code of a language as RFC 5646 writes it: `DE` is `de`, `ZH-HANS` is `zh-Hans`; what is no such code stays as it is. */
export function languageTag(code: string): string {
  try {
    return Intl.getCanonicalLocales(code)[0] ?? code
  } catch {
    return code
  }
}

/** The language that a document says it is written in. */
export function languageOf({ document, holder, at }: CatalogDocument): string | undefined {
  return ownString(own(metadataOf({ document, holder, at }), 'language'), 'code')
}

/**
 * Says that the document is in `target` now, that there is one in `source` (when that is known), and declares the extension.
 * Languages that were listed before stay listed.
 */
export function languageEdits(json: JsonText, place: CatalogDocument, target: string, source: string | undefined): readonly Edit[] {
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
