/** The fixes by code: each turns a finding into edits of the text. */

import { declarationsOf, EXTENSION, type ExtensionVersion, isObject, NEWEST, own, schemePlaces, VERSIONS } from '../../stac/document.ts'
import type { Edit, JsonText } from '../../stac/json-text.ts'
import { lowestVersion } from '../model.ts'
import { inside, schemeOfType, valueAt } from '../pointer.ts'
import type { Problem } from '../problem.ts'
import { typeFrom } from '../rules/scheme-type.ts'
import { childrenOf } from '../rules/unused-scheme.ts'
import { FINDING_LIMIT } from '../runner.ts'

/** A finding and its place. */
export interface FixPlace {
  /** Pointer of the finding, from the root of what was read. */
  readonly pointer: string
  /** The value there; undefined if it is missing. */
  readonly value: unknown
  /** The probably intended value or name. */
  readonly near: string | undefined
  /** The parsed document that the finding is about, and its place in what was read. */
  readonly document: unknown
  readonly at: string
  /** The whole parsed text. */
  readonly root: unknown
}

/** Returns the edits that fix a finding; undefined if it cannot be fixed automatically. */
type Fix = (text: JsonText, place: FixPlace) => readonly Edit[] | undefined

/** Replaces the value by the probably intended one. */
const replaceWithNear: Fix = (text, { pointer, near }) => (near === undefined ? undefined : text.replace(pointer, near))

/** Renames the member to the probably intended name. */
const renameToNear: Fix = (text, { pointer, near }) => (near === undefined ? undefined : text.rename(pointer, near))

/** Removes the value. */
const remove: Fix = (text, { pointer }) => text.remove(pointer)

/** Pointers of the object in which a document has its `auth:schemes`, and of that map. */
interface MapPlace {
  readonly holder: string
  readonly map: string
}

/** Returns where a document has, or would have, its schemes. */
function mapPlaceOf(document: unknown, at: string): MapPlace {
  const holder = own(document, 'type') === 'Feature' ? `${at}/properties` : at
  return { holder, map: `${holder}/auth:schemes` }
}

/** Moves a member into another object, under a name. */
function moveInto(text: JsonText, from: string, to: string, name: string, value: unknown): readonly Edit[] | undefined {
  const removed = text.remove(from)
  const added = text.insert(to, name, value)
  return removed && added && [...removed, ...added]
}

/** True when other documents may use a scheme of this document. */
export type UsedElsewhere = (scheme: string, document: unknown) => boolean

/** The default, when other documents are unknown: documents below this one may use all its schemes. */
export const mayBeUsed: UsedElsewhere = (_scheme, document) => childrenOf(document).length > 0

/**
 * True for a finding `unused-scheme` that can be fixed safely: the scheme has no error, which could be why nothing refers to it, the
 * document has no malformed `auth:refs`, and all its findings are known.
 */
export function isRemovable({ pointer }: Problem, problems: readonly Problem[]): boolean {
  const errors = problems.filter(({ code, severity }) => severity === 'error' && code !== 'unused-scheme')
  const isBroken = errors.some((error) => error.pointer === pointer || error.pointer.startsWith(`${pointer}/`))
  return !isBroken && !errors.some(({ code }) => code === 'refs-shape') && problems.length < FINDING_LIMIT
}

const declare: Fix = (text, { pointer, document, at, value }) => {
  const url = urlOf(lowestVersion(document))
  return Array.isArray(value) ? text.push(pointer, url) : text.insert(at, 'stac_extensions', [url])
}

/** Moves `auth:schemes` from an Item's root into its properties. */
const intoProperties: Fix = (text, { pointer, value, document, at }) => {
  const free = isObject(own(document, 'properties')) && own(own(document, 'properties'), 'auth:schemes') === undefined
  if (pointer !== `${at}/auth:schemes` || own(document, 'type') !== 'Feature' || !free) return undefined
  return moveInto(text, pointer, `${at}/properties`, 'auth:schemes', value)
}

/** Moves `auth:schemes` from an asset or link to the schemes of the document, unless a name is defined differently there. */
const intoDocument: Fix = (text, { pointer, value, document, at, root }) => {
  const { holder, map } = mapPlaceOf(document, at)
  if (!isObject(value) || !isObject(valueAt(root, holder))) return undefined
  const known = valueAt(root, map)
  if (known === undefined) return moveInto(text, pointer, holder, 'auth:schemes', value)
  const moved = Object.keys(value).filter((member) => JSON.stringify(inside(known, member)) !== JSON.stringify(value[member]))
  const [name, ...others] = moved
  if (name === undefined) return text.remove(pointer)
  return others.length > 0 || inside(known, name) !== undefined ? undefined : moveInto(text, pointer, map, name, value[name])
}

/** Removes one declaration, but never that of the highest version. */
const keepHighest: Fix = (text, { pointer, document, at }) => {
  const declared = declarationsOf(document)
  const rank = (version: ExtensionVersion | undefined) => (version ? VERSIONS.indexOf(version) : -1)
  const [highest] = [...declared].sort((one, next) => rank(next.version) - rank(one.version))
  if (highest === undefined) return undefined
  const place = (index: number) => `${at}/stac_extensions/${index}`
  const other = declared.find(({ url }) => url !== highest.url)
  return place(highest.index) === pointer ? other && text.remove(place(other.index)) : text.remove(pointer)
}

const raise: Fix = (text, { document, at }) => {
  const [only, ...others] = declarationsOf(document)
  return only && others.length === 0 ? text.replace(`${at}/stac_extensions/${only.index}`, urlOf(NEWEST)) : undefined
}

/** Fixes of the section `placement`, by rule id. */
const placement: Readonly<Record<string, Fix>> = {
  'undeclared-extension': declare,
  'misplaced-schemes': intoProperties,
  'schemes-on-target': intoDocument,
  'misspelt-auth-field': renameToNear,
  'unknown-extension-version': (text, { pointer, document }) => text.replace(pointer, urlOf(lowestVersion(document))),
  'extension-url': replaceWithNear,
  'multiple-extension-versions': keepHighest,
  'version-mismatch': raise,
  'storage-version-mismatch': (text, { pointer }) => text.replace(pointer, STORAGE),
}

/** Copies the definition from the FeatureCollection, or list of Collections, into the document itself. */
const copyFromWrapper: Fix = (text, { value, document, at, root }) => {
  const wrapper = valueAt(root, at.replace(/\/[^/]*\/[^/]*$/, ''))
  if (typeof value !== 'string' || !isObject(wrapper)) return undefined
  const scheme = schemePlaces(wrapper)
    .map(({ schemes: schemeMap }) => own(schemeMap, value))
    .find((found) => found !== undefined)
  const { holder, map } = mapPlaceOf(document, at)
  if (scheme === undefined) return undefined
  return valueAt(root, map) === undefined ? text.insert(holder, 'auth:schemes', { [value]: scheme }) : text.insert(map, value, scheme)
}

/** Removes a scheme; with the last one also the empty `auth:schemes` and the declaration, unless the document refers to schemes. */
const removeScheme: Fix = (text, place) => {
  const { pointer, document, at, root } = place
  const map = pointer.slice(0, pointer.lastIndexOf('/'))
  if (Object.keys(valueAt(root, map) ?? {}).length > 1 || JSON.stringify(document).includes('auth:refs')) return remove(text, place)
  const [declared] = declarationsOf(document)
  const removed = text.remove(map)
  return removed && declared ? [...removed, ...(text.remove(`${at}/stac_extensions/${declared.index}`) ?? [])] : removed
}

/** Fixes of the section `references`, by rule id. */
const references: Readonly<Record<string, Fix>> = {
  'refs-shape': (text, { pointer, value }) => (typeof value === 'string' ? text.wrap(pointer) : undefined),
  'dangling-ref': replaceWithNear,
  'dangling-storage-ref': (text, place) => (typeof place.value === 'string' ? replaceWithNear : renameToNear)(text, place),
  'scheme-outside-document': copyFromWrapper,
  'duplicate-ref': remove,
  'unused-scheme': removeScheme,
  'foreign-host-ref': remove,
  'href-space': (text, { pointer, value }) => text.replace(pointer, String(value).replaceAll(' ', '%20')),
}

const addType: Fix = (text, { pointer, root }) => {
  const scheme = schemeOfType(pointer)
  const present = pointer !== scheme
  const type = typeFrom(valueAt(root, scheme))
  if (type === undefined) return undefined
  return present ? text.replace(pointer, type) : text.insert(pointer, 'type', type)
}

/** The type `bearer` means the HTTP authentication scheme of that name. */
const repairType: Fix = (text, { pointer, near, value, root }) => {
  const scheme = pointer.slice(0, -'/type'.length)
  if (near === undefined) return undefined
  const word = near === 'http' && value !== 'http' && /^(?:basic|bearer|digest)$/.test(String(value)) ? String(value) : undefined
  const added = word !== undefined && own(valueAt(root, scheme), 'scheme') === undefined ? text.insert(scheme, 'scheme', word) : []
  return [...(text.replace(pointer, near) ?? []), ...(added ?? [])]
}

const appendDiscovery: Fix = (text, { pointer, value }) =>
  typeof value === 'string' && !/[?#]/.test(value)
    ? text.replace(pointer, `${value.replace(/\/$/, '')}/.well-known/openid-configuration`)
    : undefined

/** Fixes of the section `schemes`, by rule id. */
const schemes: Readonly<Record<string, Fix>> = {
  'missing-type': addType,
  'type-near-miss': repairType,
  'field-type': (text, { pointer, value }) => (value === 'true' || value === 'false' ? text.replace(pointer, value === 'true') : undefined),
  'misapplied-field': remove,
  'unknown-field': renameToNear,
  'apikey-in': replaceWithNear,
  'http-scheme-unregistered': replaceWithNear,
  'http-scheme-case': (text, { pointer, value }) => text.replace(pointer, String(value).toLowerCase()),
  'openid-discovery-url': appendDiscovery,
}

/** Puts a flow object that is the value of `flows` under the name of its flow, which its fields show. */
const nameFlow: Fix = (text, { pointer, value, root }) => {
  const type = own(valueAt(root, pointer.slice(0, -'/flows'.length)), 'type')
  if (!isObject(value) || Object.values(value).some((inner) => isObject(inner) && own(inner, 'scopes') !== undefined)) return undefined
  const [authorize, token] = [own(value, 'authorizationUrl'), own(value, 'tokenUrl')]
  const oauth = token === undefined ? 'implicit' : authorize === undefined ? 'clientCredentials' : 'authorizationCode'
  return text.nest(pointer, type === 'signedUrl' ? 'authorizationCode' : oauth)
}

/** Replaces http by https. URLs with port 80, which is that of http, and without slashes are not fixed. */
const useHttps: Fix = (text, { pointer, value }) => {
  const secure = String(value).replace(/^http:\/\/([^/?#]*?)(?::80)?(?=[/?#]|$)/i, 'https://$1')
  return secure === value ? undefined : text.replace(pointer, secure)
}

/** Fixes of the section `flows`, by rule id. */
const flows: Readonly<Record<string, Fix>> = {
  'flows-shape': nameFlow,
  'flow-name': renameToNear,
  'insecure-endpoint': useHttps,
  'parameter-schema': (text, { pointer, value }) => (Array.isArray(own(value, 'examples')) ? undefined : text.wrap(`${pointer}/examples`)),
  'scheme-ref-dangling': replaceWithNear,
  'subject-token-type': remove,
}

export const fixes: Readonly<Record<string, Fix>> = { ...placement, ...references, ...schemes, ...flows }

const STORAGE = 'https://stac-extensions.github.io/storage/v2.0.0/schema.json'

function urlOf(version: ExtensionVersion): string {
  return `${EXTENSION}v${version}/schema.json`
}
