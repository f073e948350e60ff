/**
 * Reads a parsed document in one walk: the parts that rules check become the model, the rest is counted. Nothing is refused, and only own
 * properties become part of the model.
 */
import {
  type Declaration,
  type DocumentKind,
  declarationsOf,
  isObject,
  type JsonObject,
  kindOf,
  own,
  ownString,
  pointer,
  type StacDocument,
  versionOf,
} from '../stac/document.ts'
import type { LintRun } from './lint-run.ts'
import {
  type FlowNode,
  type LintDocument,
  type ParameterNode,
  type SchemeMap,
  type SchemeNode,
  TargetNode,
  type TargetPlace,
} from './model.ts'
import type { Preset } from './problem.ts'
import { countIn, countName, DEPTH_LIMIT, emptySurvey, expectedFields, type Survey, survey } from './survey.ts'

/** The place of a document, and facts from the caller about it. */
export interface Surroundings {
  readonly at: string
  readonly depth: number
  /** Member of the document that is not read. */
  readonly inside?: string
  readonly url?: string
  readonly name?: string
  readonly wrapper?: StacDocument
  readonly parents: readonly StacDocument[]
  readonly preset: Preset
  readonly run?: LintRun
  /** The declarations of the document itself. */
  readonly declarations: readonly Declaration[]
}

type Writable = { -readonly [K in keyof LintDocument]: LintDocument[K] }

/** The result of reading a document. */
export interface Reading {
  /** `misplacedFields` is filled in later. */
  readonly document: Writable
  readonly counted: Survey
  /** True when there are field-like members that the model does not account for. */
  readonly hasMisplacedFields: boolean
}

/** Reads one document. The model of a document that is too deep is incomplete. */
export function readDocument(object: StacDocument, around: Surroundings): Reading {
  const document = emptyModel(object, around)
  const reader = new Reader(document)
  reader.read(around.depth, around.inside)
  document.targets = reader.targets
  document.maps = mapsIn(document)
  document.schemes = document.maps.length === 1 ? (document.maps[0]?.schemes ?? []) : document.maps.flatMap(({ schemes }) => schemes)
  // The reader checks the depth limit below targets only, and has no pointer for it.
  const isDeep = around.depth > DEPTH_LIMIT - TARGET_DEPTH || reader.counted.tooDeep !== undefined
  const counted = isDeep ? survey(object, around.depth, around.inside) : reader.counted
  return { document, counted, hasMisplacedFields: counted.fields > reader.fieldsOfTargets + expectedFields(document) }
}

function emptyModel(object: StacDocument, around: Surroundings): Writable {
  const { declarations, wrapper, at } = around
  const inherited = declarations.length > 0 || wrapper === undefined ? declarations : declarationsOf(wrapper)
  const kind = kindOf(object)
  return {
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
    misplacedFields: [],
  }
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
    if (isObject(scheme)) schemes.push({ map, name, value: scheme, pointer: pointer(at, name), type: ownString(scheme, 'type') })
  }
  return map
}

/** Returns the flows of a scheme whose type has flows; empty when `flows` is flat. */
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

/** Returns true if `flows` contains the fields of a flow instead of named flows. */
export function isFlat(flows: JsonObject): boolean {
  return Object.keys(flows).some((key) => FLOW_MAPS.has(key) || (FLOW_TEXTS.has(key) && !isObject(flows[key])))
}

/** Levels of nesting from a document to its alternate assets. */
const TARGET_DEPTH = 4

/** Walks over a document and collects its targets. */
class Reader {
  readonly targets: TargetNode[] = []
  readonly counted = emptySurvey()
  /** Fields of the extension that targets may have. */
  fieldsOfTargets = 0
  readonly #document: LintDocument

  constructor(document: LintDocument) {
    this.#document = document
  }

  read(depth: number, skip: string | undefined): void {
    const { object, at, kind } = this.#document
    for (const name in object) {
      countName(name, this.counted)
      if (name === skip) continue
      const value = object[name]
      if (name === 'links' && Array.isArray(value)) this.#links(value, `${at}/links`, depth + 1)
      else if (name === 'assets' && kind !== 'wrapper') this.#assets(value, `${at}/assets`, 'asset', depth + 1)
      else if (name === 'item_assets' && kind === 'collection') this.#assets(value, `${at}/item_assets`, 'item_asset', depth + 1)
      else countIn(value, depth + 1, this.counted)
    }
  }

  #links(links: readonly unknown[], at: string, depth: number): void {
    for (let index = 0; index < links.length; index++) {
      const link = links[index]
      if (isObject(link)) this.#target({ kind: 'link', name: String(index), around: at }, link, depth + 1)
      else countIn(link, depth + 1, this.counted)
    }
  }

  #assets(assets: unknown, at: string, kind: 'asset' | 'item_asset' | 'alternate', depth: number, of?: TargetNode): void {
    if (!isObject(assets)) {
      countIn(assets, depth, this.counted)
      return
    }
    for (const name in assets) {
      countName(name, this.counted)
      const asset = assets[name]
      const isField = of !== undefined && (name === 'auth:refs' || name === 'auth:schemes')
      if (!isObject(asset) || isField) countIn(asset, depth + 1, this.counted)
      else this.#target({ kind, name, around: at, asset: of }, asset, depth + 1)
    }
  }

  #target(place: TargetPlace, object: JsonObject, depth: number): void {
    const { kind } = place
    let href: string | undefined
    let refs: readonly unknown[] | undefined
    let alternates: JsonObject | undefined
    let hasSchemes = false
    for (const field in object) {
      const isRefs = countName(field, this.counted) && field === 'auth:refs'
      if (isRefs || field === 'auth:schemes') this.fieldsOfTargets++
      if (field === 'auth:schemes') hasSchemes = true
      const value = object[field]
      if (typeof value === 'string') {
        this.counted.strings++
        if (field === 'href') href = value
      } else if (typeof value === 'object' && value !== null) {
        if (field === 'alternate' && (kind === 'asset' || kind === 'item_asset') && isObject(value)) {
          alternates = value
          continue
        }
        if (isRefs && Array.isArray(value)) refs = value
        countIn(value, depth + 1, this.counted)
      }
    }
    const target = new TargetNode(this.#document, place, object, { href, refs, hasSchemes })
    this.targets.push(target)
    if (alternates) this.#assets(alternates, `${target.pointer}/alternate`, 'alternate', depth + 1, target)
  }
}
