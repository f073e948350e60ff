/** Reads a parsed document: the parts that rules check become the model. Nothing is refused. */
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
import { type FlowNode, type LintDocument, type ParameterNode, type SchemeMap, type SchemeNode, TargetNode } from './model.ts'
import type { Preset } from './problem.ts'
import { type Part, type Survey, survey } from './survey.ts'

/** The place of a document, and facts from the caller about it. */
export interface Surroundings extends Omit<Part, 'value' | 'likely'> {
  readonly url?: string
  readonly name?: string
  readonly parents: readonly StacDocument[]
  readonly preset: Preset
  readonly run?: LintRun
  /** The declarations of the document itself. */
  readonly declarations: readonly Declaration[]
}

type Writable = { -readonly [K in keyof LintDocument]: LintDocument[K] }

/** Reads one document, whose `type` is known. The model of a document that is too deep is incomplete. */
export function readDocument(object: StacDocument, around: Surroundings): { readonly document: LintDocument; readonly counted: Survey } {
  const { declarations, wrapper, at } = around
  const inherited = declarations.length > 0 || wrapper === undefined ? declarations : declarationsOf(wrapper)
  const kind = kindOf(object)
  const targets: TargetNode[] = []
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
    targets,
    definitions: new Map(),
    misplacedFields: [],
  }
  let asset: TargetNode | undefined
  const counted = survey(object, around, kind, (role, name, target) => {
    const node = new TargetNode(document, role, name, target, role === 'alternate' ? asset : undefined)
    if (role === 'asset' || role === 'item_asset') asset = node
    targets.push(node)
  })
  document.misplacedFields = counted.misplaced
  document.maps = mapsIn(document)
  document.schemes = document.maps.length === 1 ? (document.maps[0]?.schemes ?? []) : document.maps.flatMap(({ schemes }) => schemes)
  return { document, counted }
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
  addNodes(value, at, schemes, (name, scheme, place) => {
    const type = ownString(scheme, 'type')
    const flows = type === 'oauth2' || type === 'signedUrl' ? own(scheme, 'flows') : undefined
    const refs = own(scheme, 'auth:refs')
    return { map, name, value: scheme, pointer: place, type, flows, refs: Array.isArray(refs) ? refs : NONE }
  })
  return map
}

/** Returns the flows of a scheme whose type has flows; empty when `flows` is flat. */
export function flowsOf(scheme: SchemeNode): readonly FlowNode[] {
  const { flows } = scheme
  if (!isObject(flows) || isFlat(flows)) return NONE
  return addNodes(flows, `${scheme.pointer}/flows`, [], (name, value, at): FlowNode => ({ scheme, name, value, pointer: at }))
}

/** The parameters of a flow of type `signedUrl`. */
export function parametersOf(flow: FlowNode): readonly ParameterNode[] {
  const parameters = flow.scheme.type === 'signedUrl' ? own(flow.value, 'parameters') : undefined
  if (!isObject(parameters)) return NONE
  return addNodes(parameters, `${flow.pointer}/parameters`, [], (name, value, at): ParameterNode => ({ flow, name, value, pointer: at }))
}

const NONE: readonly never[] = []

/** Adds a node for each member of a map that is an object, and returns all nodes. */
function addNodes<Node>(
  map: JsonObject,
  around: string,
  nodes: Node[],
  nodeOf: (name: string, value: JsonObject, at: string) => Node,
): Node[] {
  for (const name in map) {
    const value = map[name]
    if (isObject(value)) nodes.push(nodeOf(name, value, pointer(around, name)))
  }
  return nodes
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
  for (const key in flows) if (FLOW_MAPS.has(key) || (FLOW_TEXTS.has(key) && !isObject(flows[key]))) return true
  return false
}
