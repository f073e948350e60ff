import { isObject, own, ownString } from '../../../stac/json.ts'
import { declarationsOf, EXTENSION, type ExtensionVersion, NEWEST, VERSIONS } from '../../../stac/version.ts'
import { inside, valueAt } from '../../pointer.ts'
import { type Fix, renameToNear, replaceWithNear } from '../fix.ts'
import { mapPlaceOf, moveInto } from '../move.ts'

const STORAGE = 'https://stac-extensions.github.io/storage/v2.0.0/schema.json'

const declare: Fix = (text, { pointer, document, at, value }) => {
  const url = urlOf(needsNewest(document) ? NEWEST : '1.1.0')
  return Array.isArray(value) ? text.push(pointer, url) : text.insert(at, 'stac_extensions', [url])
}

/** The highest one stays, wherever it stands. */
const keepHighest: Fix = (text, { pointer, document, at }) => {
  const declared = declarationsOf(document)
  const rank = (version: ExtensionVersion | undefined) => (version ? VERSIONS.indexOf(version) : -1)
  const [highest] = [...declared].sort((one, other) => rank(other.version) - rank(one.version))
  if (highest === undefined) return undefined
  const place = (index: number) => `${at}/stac_extensions/${index}`
  const other = declared.find(({ url }) => url !== highest.url)
  return place(highest.index) === pointer ? other && text.remove(place(other.index)) : text.remove(pointer)
}

const raise: Fix = (text, { document, at }) => {
  const [only, ...others] = declarationsOf(document)
  return only && others.length === 0 ? text.replace(`${at}/stac_extensions/${only.index}`, urlOf(NEWEST)) : undefined
}

/** From an Item's root into its properties. */
const intoProperties: Fix = (text, { pointer, value, document, at }) => {
  const free = isObject(own(document, 'properties')) && own(own(document, 'properties'), 'auth:schemes') === undefined
  if (pointer !== `${at}/auth:schemes` || own(document, 'type') !== 'Feature' || !free) return undefined
  return moveInto(text, pointer, `${at}/properties`, 'auth:schemes', value)
}

/** From an asset or link to where the document has its schemes; not when a name there means something else. */
const intoDocument: Fix = (text, { pointer, value, document, at, root }) => {
  const { holder, map } = mapPlaceOf(document, at)
  if (!isObject(value) || !isObject(valueAt(root, holder))) return undefined
  const known = valueAt(root, map)
  if (known === undefined) return moveInto(text, pointer, holder, 'auth:schemes', value)
  const moved = Object.keys(value).filter((name) => JSON.stringify(inside(known, name)) !== JSON.stringify(value[name]))
  const [name, ...others] = moved
  if (name === undefined) return text.remove(pointer)
  return others.length > 0 || inside(known, name) !== undefined ? undefined : moveInto(text, pointer, map, name, value[name])
}

/** Fixes of the section `placement`, by rule id. */
export const placement: Readonly<Record<string, Fix>> = {
  'undeclared-extension': declare,
  'misplaced-schemes': intoProperties,
  'schemes-on-target': intoDocument,
  'misspelt-auth-field': renameToNear,
  'unknown-extension-version': (text, { pointer }) => text.replace(pointer, urlOf(NEWEST)),
  'extension-url': replaceWithNear,
  'multiple-extension-versions': keepHighest,
  'version-mismatch': raise,
  'storage-version-mismatch': (text, { pointer }) => text.replace(pointer, STORAGE),
}

function urlOf(version: ExtensionVersion): string {
  return `${EXTENSION}v${version}/schema.json`
}

/** True when a scheme has what came with 1.2.0: refs of its own, or a token exchange. */
function needsNewest(document: unknown): boolean {
  const maps = [own(document, 'auth:schemes'), own(own(document, 'properties'), 'auth:schemes')]
  return maps.flatMap((map) => Object.values(map ?? {})).some((scheme) => own(scheme, 'auth:refs') !== undefined || exchanges(scheme))
}

function exchanges(scheme: unknown): boolean {
  const flows = own(scheme, 'flows')
  return own(flows, 'tokenExchange') !== undefined || Object.values(flows ?? {}).some((flow) => ownString(flow, 'subjectTokenType'))
}
