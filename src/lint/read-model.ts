/** Reads a parsed document into the model of the rules. Only own properties are looked at, and nothing is refused. */
import { type DocumentKind, kindOf, type StacDocument } from '../stac/document.ts'
import { isObject, type JsonObject, own, pointer } from '../stac/json.ts'
import { type Declaration, declarationsOf, versionOf } from '../stac/version.ts'
import type { LintRun } from './lint-run.ts'
import { type Definition, definitionOf } from './lookup.ts'
import type { FlowNode, LintDocument, ParameterNode, SchemeMap, SchemeNode, TargetNode } from './model.ts'
import type { Preset } from './problem.ts'

/** Where a document was found, and what the caller knows about it. */
export interface Surroundings {
  readonly at: string
  readonly url?: string
  readonly name?: string
  readonly wrapper?: StacDocument
  readonly parents: readonly StacDocument[]
  readonly preset: Preset
  readonly run?: LintRun
  /** What the document itself declares. */
  readonly declarations: readonly Declaration[]
}

type Writable = { -readonly [K in keyof LintDocument]: LintDocument[K] }

/** The model of one document; `strays` is filled in by who looks for them. */
export function modelOf(object: StacDocument, around: Surroundings): Writable {
  const { declarations, wrapper, at } = around
  const inherited = declarations.length > 0 || wrapper === undefined ? declarations : declarationsOf(wrapper)
  const kind = kindOf(object)
  const document: Writable = {
    object,
    kind,
    at,
    url: around.url,
    name: around.name,
    wrapper,
    parents: around.parents,
    preset: around.preset,
    run: around.run,
    declarations,
    declared: inherited.length > 0,
    version: versionOf(inherited),
    map: mapOf(object, kind, at),
    maps: [],
    schemes: [],
    targets: [],
    definitions: new Map(),
    strays: [],
  }
  document.targets = targetsIn(document)
  document.maps = mapsIn(document)
  document.schemes = document.maps.length === 1 ? (document.maps[0]?.schemes ?? []) : document.maps.flatMap(({ schemes }) => schemes)
  return document
}

function mapOf(object: StacDocument, kind: DocumentKind, at: string): LintDocument['map'] {
  const value = own(kind === 'item' ? own(object, 'properties') : object, 'auth:schemes')
  return value === undefined ? undefined : { value, pointer: at + (kind === 'item' ? '/properties/auth:schemes' : '/auth:schemes') }
}

function mapsIn(document: LintDocument): SchemeMap[] {
  const found: SchemeMap[] = []
  const { map, kind, at } = document
  if (map && isObject(map.value)) found.push(schemeMap(document, map.value, map.pointer, false))
  const summary = kind === 'collection' ? own(own(document.object, 'summaries'), 'auth:schemes') : undefined
  if (!Array.isArray(summary)) return found
  for (const [index, value] of summary.entries()) {
    if (isObject(value)) found.push(schemeMap(document, value, `${at}/summaries/auth:schemes/${index}`, true))
  }
  return found
}

function schemeMap({ version, declared, preset }: LintDocument, value: JsonObject, at: string, summary: boolean): SchemeMap {
  const schemes: SchemeNode[] = []
  const map: SchemeMap = { value, pointer: at, summary, version, declared, preset, schemes }
  for (const name of Object.keys(value)) {
    const scheme = value[name]
    if (!isObject(scheme)) continue
    const type = own(scheme, 'type')
    schemes.push({ map, name, value: scheme, pointer: pointer(at, name), type: typeof type === 'string' ? type : undefined })
  }
  return map
}

/** The flows of a scheme whose type has flows; none when `flows` is flat. */
export function flowsOf(scheme: SchemeNode): readonly FlowNode[] {
  const flows = scheme.type === 'oauth2' || scheme.type === 'signedUrl' ? own(scheme.value, 'flows') : undefined
  if (!isObject(flows) || isFlat(flows)) return []
  return nodesIn(flows, pointer(scheme.pointer, 'flows')).map((node) => ({ scheme, ...node }))
}

/** The parameters of a flow of type `signedUrl`. */
export function parametersOf(flow: FlowNode): readonly ParameterNode[] {
  const parameters = flow.scheme.type === 'signedUrl' ? own(flow.value, 'parameters') : undefined
  return isObject(parameters) ? nodesIn(parameters, pointer(flow.pointer, 'parameters')).map((node) => ({ flow, ...node })) : []
}

function nodesIn(map: JsonObject, at: string): { name: string; value: JsonObject; pointer: string }[] {
  return Object.keys(map).flatMap((name) => {
    const value = map[name]
    return isObject(value) ? [{ name, value, pointer: pointer(at, name) }] : []
  })
}

const FLOW_TEXTS = new Set([
  'authorizationUrl',
  'tokenUrl',
  'refreshUrl',
  'subjectTokenType',
  'method',
  'authorizationApi',
  'responseField',
])
const FLOW_MAPS = new Set(['scopes', 'parameters'])

/** True when a flow's own fields stand where its name should: the flow object was written directly into `flows`. */
export function isFlat(flows: JsonObject): boolean {
  return Object.keys(flows).some((key) => FLOW_MAPS.has(key) || (FLOW_TEXTS.has(key) && !isObject(flows[key])))
}

function targetsIn(document: LintDocument): TargetNode[] {
  const found: TargetNode[] = []
  const { object, at, kind } = document
  if (kind !== 'wrapper') {
    addAssets(found, document, own(object, 'assets'), `${at}/assets`, 'asset')
    if (kind === 'collection') addAssets(found, document, own(object, 'item_assets'), `${at}/item_assets`, 'item_asset')
  }
  const links = own(object, 'links')
  if (!Array.isArray(links)) return found
  for (let index = 0; index < links.length; index++) {
    const link: unknown = links[index]
    if (isObject(link)) found.push(new Target(document, 'link', String(index), link, `${at}/links/${index}`))
  }
  return found
}

function addAssets(found: TargetNode[], document: LintDocument, assets: unknown, at: string, kind: 'asset' | 'item_asset'): void {
  if (!isObject(assets)) return
  for (const name of Object.keys(assets)) {
    const value = assets[name]
    if (!isObject(value)) continue
    const asset = new Target(document, kind, name, value, pointer(at, name))
    found.push(asset)
    const alternates = own(value, 'alternate')
    if (!isObject(alternates)) continue
    for (const key of Object.keys(alternates)) {
      const alternate = alternates[key]
      if (key === 'auth:refs' || key === 'auth:schemes' || !isObject(alternate)) continue
      found.push(new Target(document, 'alternate', key, alternate, pointer(asset.pointer, 'alternate', key), asset))
    }
  }
}

const NONE: readonly undefined[] = []

/** What its refs mean is looked up when the first rule asks, and once. */
class Target implements TargetNode {
  readonly document: LintDocument
  readonly kind: TargetNode['kind']
  readonly name: string
  readonly object: JsonObject
  readonly pointer: string
  readonly href: string | undefined
  readonly refs: readonly unknown[] | undefined
  readonly asset: TargetNode | undefined
  #definitions: readonly (Definition | undefined)[] | undefined
  #types: readonly string[] | undefined

  constructor(document: LintDocument, kind: TargetNode['kind'], name: string, object: JsonObject, at: string, asset?: TargetNode) {
    const href = own(object, 'href')
    const refs = own(object, 'auth:refs')
    this.document = document
    this.kind = kind
    this.name = name
    this.object = object
    this.pointer = at
    this.href = typeof href === 'string' ? href : undefined
    this.refs = Array.isArray(refs) ? refs : undefined
    this.asset = asset
  }

  get definitions(): readonly (Definition | undefined)[] {
    this.#definitions ??= this.refs?.map((ref) => (typeof ref === 'string' ? definitionOf(this, ref) : undefined)) ?? NONE
    return this.#definitions
  }

  get types(): readonly string[] {
    if (this.#types) return this.#types
    const types: string[] = []
    for (const definition of this.definitions) {
      const type = own(definition?.value, 'type')
      if (typeof type === 'string') types.push(type)
    }
    this.#types = types
    return types
  }
}
