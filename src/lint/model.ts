/**
 * A document as the rules see it: its parts and their places, unchecked. Nothing is repaired or left out silently, unlike in the
 * resolver's reading of the same document. After it come the names of the extension (1.0.0 to 1.2.0), and checks of URLs for rules.
 */

import {
  type Declaration,
  type DocumentKind,
  type ExtensionVersion,
  isObject,
  type JsonObject,
  NEWEST,
  own,
  ownString,
  pointer,
  type StacDocument,
  schemePlaces,
} from '../stac/document.ts'
import { SCHEME_TYPES } from '../stac/scheme.ts'
import type { LintRun } from './lint-run.ts'
import type { Preset } from './problem.ts'
import type { MisplacedField, TargetKind } from './survey.ts'

/** A document, alone or inside a wrapper. */
export interface LintDocument {
  readonly object: StacDocument
  readonly kind: DocumentKind
  /** Pointer of the document in what was read. */
  readonly at: string
  readonly url?: string
  readonly name?: string
  /** The FeatureCollection or list of Collections around it. */
  readonly wrapper?: StacDocument
  /** The documents given by the caller, nearest first. */
  readonly parents: readonly StacDocument[]
  readonly preset: Preset
  /** The other documents of the run; undefined when there are none. */
  readonly run: LintRun | undefined
  readonly declarations: readonly Declaration[]
  /** True when it or its wrapper declares the extension, in whatever version. */
  readonly declared: boolean
  readonly version: ExtensionVersion
  /** The value in the correct place for `auth:schemes`, with its pointer; undefined if there is none. */
  readonly map: { readonly value: unknown; readonly pointer: string } | undefined
  /** The maps that are objects: the one of the document, then those in a Collection's `summaries["auth:schemes"]`. */
  readonly maps: readonly SchemeMap[]
  /** Schemes of all maps, in their order. */
  readonly schemes: readonly SchemeNode[]
  readonly targets: readonly TargetNode[]
  /** The schemes that names refer to, as far as they were looked up. */
  readonly definitions: Map<string, Definition | undefined>
  /** Members with `auth` in their names in places where the extension does not define them. */
  readonly misplacedFields: readonly MisplacedField[]
}

/** A map of schemes, and what findings about its schemes, flows or parameters depend on. */
export interface SchemeMap {
  readonly value: JsonObject
  readonly pointer: string
  /** True in `summaries`. */
  readonly summary: boolean
  readonly version: ExtensionVersion
  readonly declared: boolean
  readonly preset: Preset
  readonly schemes: readonly SchemeNode[]
}

/** A member of `auth:schemes` that is an object. */
export interface SchemeNode {
  readonly map: SchemeMap
  readonly name: string
  readonly value: JsonObject
  readonly pointer: string
  /** The `type`, when it is a string. */
  readonly type: string | undefined
  /** The value of `flows`, when the type has flows. */
  readonly flows: unknown
  /** The elements of `auth:refs`; empty without a list. */
  readonly refs: readonly unknown[]
}

/** A value of `flows` that is an object. */
export interface FlowNode {
  readonly scheme: SchemeNode
  readonly name: string
  readonly value: JsonObject
  readonly pointer: string
}

/** The URL of a service, and the name of its field. */
export interface Endpoint {
  readonly field: string
  readonly address: string
  readonly pointer: string
}

/** A value of `parameters` that is an object. */
export interface ParameterNode {
  readonly flow: FlowNode
  readonly name: string
  readonly value: JsonObject
  readonly pointer: string
}

/** An asset, alternate asset, item asset definition or link that is an object. */
export class TargetNode {
  readonly document: LintDocument
  readonly kind: TargetKind
  readonly name: string
  readonly object: JsonObject
  /** As written; undefined if it is not a string. */
  readonly href: string | undefined
  /** The value of `auth:refs` when it is a list, whatever is in it. */
  readonly refs: readonly unknown[] | undefined
  /** True when it has `auth:schemes` itself. */
  readonly hasSchemes: boolean
  /** The asset of an alternate. */
  readonly asset: TargetNode | undefined

  constructor(document: LintDocument, kind: TargetKind, name: string, object: JsonObject, asset: TargetNode | undefined) {
    const { href, 'auth:refs': refs } = object
    this.document = document
    this.kind = kind
    this.name = name
    this.object = object
    this.href = typeof href === 'string' ? href : undefined
    this.refs = Array.isArray(refs) ? refs : undefined
    this.hasSchemes = object['auth:schemes'] !== undefined
    this.asset = asset
  }

  /** Computed on use: most targets have no finding. */
  get pointer(): string {
    return pointer(this.asset ? `${this.asset.pointer}/alternate` : `${this.document.at}/${this.kind}s`, this.name)
  }

  /** Returns the definition of a ref; undefined for one that is not defined or not a string. */
  definition(ref: unknown): Definition | undefined {
    return typeof ref === 'string' ? definitionOf(this, ref) : undefined
  }

  /** The types of the schemes that its refs name, as far as they have a readable type. */
  get types(): readonly string[] {
    const found: string[] = []
    for (const ref of this.refs ?? NONE) {
      const type = ownString(this.definition(ref)?.value, 'type')
      if (type !== undefined) found.push(type)
    }
    return found
  }
}

const NONE: readonly never[] = []

/** A target that clients request with credentials. */
export type ProtectedTarget = TargetNode & { readonly href: string }

/** True for a target with an href and at least one ref. */
export function isProtected(target: TargetNode): target is ProtectedTarget {
  return target.href !== undefined && target.refs !== undefined && target.refs.length > 0
}

/** A definition, and where it was found. */
export interface Definition {
  readonly value: unknown
  readonly where: 'document' | 'wrapper' | 'parent'
}

/** Returns the nearest definition of the name, or undefined. Searched in this order: the target, its document, the wrapper, the parents. */
function definitionOf(target: TargetNode, name: string): Definition | undefined {
  // Such targets may see other schemes than the rest of the document.
  if (target.hasSchemes || isItemAsset(target)) return find(target, name)
  const { definitions } = target.document
  const known = definitions.get(name)
  if (known || definitions.has(name)) return known
  const found = find(target, name)
  definitions.set(name, found)
  return found
}

function find(target: TargetNode, name: string): Definition | undefined {
  const { document } = target
  for (const map of ownMaps(target)) if (Object.hasOwn(map, name)) return { value: map[name], where: 'document' }
  const inWrapper = document.wrapper && memberOf(document.wrapper, name)
  if (inWrapper) return { value: inWrapper.value, where: 'wrapper' }
  for (const parent of document.parents) {
    const inParent = memberOf(parent, name)
    if (inParent) return { value: inParent.value, where: 'parent' }
  }
  return undefined
}

/** Returns the names that a target could refer to. */
export function namesFor(target: TargetNode): readonly string[] {
  const { wrapper, parents } = target.document
  const outer = [wrapper, ...parents].flatMap((document) => (document ? maps(document) : []))
  return [...ownMaps(target), ...outer].flatMap((map) => Object.keys(map))
}

/** True when the wrapper of the document, or a parent from the caller, has schemes. */
export function hasOuterSchemes({ wrapper, parents }: LintDocument): boolean {
  return [wrapper, ...parents].some((document) => document !== undefined && schemePlaces(document).length > 0)
}

/** Returns the names that a document refers to and does not define. */
export function outerRefs({ targets, schemes, maps: schemeMaps }: LintDocument): ReadonlySet<string> {
  const names = new Set<string>()
  for (const target of targets) {
    for (const name of target.refs ?? [own(target.object, 'auth:refs')])
      if (typeof name === 'string' && definitionOf(target, name)?.where !== 'document') names.add(name)
  }
  for (const { value } of schemes) {
    const refs = own(value, 'auth:refs')
    for (const name of Array.isArray(refs) ? refs : [refs])
      if (typeof name === 'string' && !schemeMaps.some((map) => Object.hasOwn(map.value, name))) names.add(name)
  }
  return names
}

function ownMaps(target: TargetNode): readonly JsonObject[] {
  const { document, object } = target
  const found: JsonObject[] = []
  const near = own(object, 'auth:schemes')
  if (isObject(near)) found.push(near)
  if (isObject(document.map?.value)) found.push(document.map.value)
  // An Item's root is the wrong place, but the intention is clear: the place is reported, the refs are not.
  const root = document.kind === 'item' ? own(document.object, 'auth:schemes') : undefined
  if (isObject(root)) found.push(root)
  if (isItemAsset(target)) found.push(...document.maps.filter(({ summary }) => summary).map(({ value }) => value))
  return found
}

/** True for item assets and their alternates, which also use the schemes in `summaries`. */
function isItemAsset({ kind, asset }: TargetNode): boolean {
  return kind === 'item_asset' || asset?.kind === 'item_asset'
}

function maps(document: StacDocument): readonly JsonObject[] {
  return schemePlaces(document)
    .map((place) => place.schemes)
    .filter(isObject)
}

function memberOf(document: StacDocument, name: string): { readonly value: unknown } | undefined {
  const map = maps(document).find((candidate) => Object.hasOwn(candidate, name))
  return map && { value: map[name] }
}

/** Types that only 1.0.0 defines. */
export const RETIRED_TYPES = ['planetaryComputer', 'earthdata'] as const

/** Keys of `flows` that the extension defines for `oauth2`. */
export const FLOW_NAMES = ['authorizationCode', 'implicit', 'password', 'clientCredentials', 'tokenExchange'] as const

/** Returns the lowest version that defines the fields of a document, as more validators know it; 1.0.0 only for a type that later ones lack. */
export function lowestVersion(document: unknown): ExtensionVersion {
  const places = [own(document, 'auth:schemes'), own(own(document, 'properties'), 'auth:schemes')]
  const schemes = places.flatMap((map) => Object.values(map ?? {}))
  if (schemes.some((scheme) => own(scheme, 'auth:refs') !== undefined || exchanges(scheme))) return NEWEST
  return schemes.some((scheme) => (RETIRED_TYPES as readonly unknown[]).includes(own(scheme, 'type'))) ? '1.0.0' : '1.1.0'
}

function exchanges(scheme: unknown): boolean {
  const flows = own(scheme, 'flows')
  return own(flows, 'tokenExchange') !== undefined || Object.values(flows ?? {}).some((flow) => ownString(flow, 'subjectTokenType'))
}

/** Fields of a Scheme Object that belong to certain types only. */
export const FIELD_TYPES: Readonly<Record<string, readonly string[]>> = {
  name: ['apiKey'],
  in: ['apiKey'],
  scheme: ['http'],
  flows: ['oauth2', 'signedUrl'],
  openIdConnectUrl: ['openIdConnect'],
}

export const SCHEME_FIELDS = ['type', 'description', 'auth:refs', ...Object.keys(FIELD_TYPES)]
export const OAUTH2_FIELDS = ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'scopes', 'subjectTokenType']
export const SIGNED_FIELDS = ['method', 'authorizationApi', 'parameters', 'responseField']
export const PARAMETER_FIELDS = ['in', 'required', 'description', 'schema']

/** Fields with the URL of a service. */
const FLOW_URLS = ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'authorizationApi'] as const

/** True for a type that the extension defines in every version. */
export function isDefinedType(type: string | undefined): boolean {
  return (SCHEME_TYPES as readonly (string | undefined)[]).includes(type)
}

// Facts about a URL from its text only: nothing is resolved, and nothing throws.

/** Returns the lower-cased scheme without colon, or undefined for a relative reference. */
export function protocolOf(address: string): string | undefined {
  if (address.startsWith('https:')) return 'https'
  return /^[a-z][a-z\d+.-]*:/i.test(address) ? address.slice(0, address.indexOf(':')).toLowerCase() : undefined
}

/** Returns the lower-cased host without port or user info; empty when there is none. */
export function hostOf(address: string): string {
  // Nearly all URLs are like this.
  PLAIN_HOST.lastIndex = 0
  if (PLAIN_HOST.test(address)) return address.slice('https://'.length, PLAIN_HOST.lastIndex)
  const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#\\]*)/i.exec(address)?.[1] ?? ''
  return authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d*$/, '')
    .toLowerCase()
}

const PLAIN_HOST = /https:\/\/[a-z\d.-]+(?=[/?#]|$)/y

/** Returns true for an `http:` URL, except of a loopback address: others can read what is sent. */
export function isInsecure(address: string): boolean {
  return !address.startsWith('https:') && /^http:/i.test(address) && !/^(?:localhost|127(?:\.\d{1,3}){1,3}|\[::1\])$/.test(hostOf(address))
}

/** Returns the URLs of services in a flow, or that of the discovery document in an `openIdConnect` scheme. */
export function endpointsOf(node: FlowNode | SchemeNode): readonly Endpoint[] {
  const fields = 'scheme' in node ? FLOW_URLS : node.type === 'openIdConnect' ? ['openIdConnectUrl'] : NONE
  const found: Endpoint[] = []
  for (const field of fields) {
    const address = own(node.value, field)
    if (typeof address === 'string') found.push({ field, address, pointer: `${node.pointer}/${field}` })
  }
  return found
}
