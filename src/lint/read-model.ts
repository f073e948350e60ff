/** Reads a parsed document into the model of the rules. Only own properties are looked at, and nothing is refused. */
import { type DocumentKind, kindOf, type StacDocument } from '../stac/document.ts'
import { isObject, type JsonObject, own, pointer } from '../stac/json.ts'
import { declarationsOf, versionOfDocument } from '../stac/version.ts'
import type { LintRun } from './lint-run.ts'
import type { FlowNode, LintDocument, ParameterNode, SchemeNode, TargetNode } from './model.ts'
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
}

type Draft = { -readonly [K in keyof LintDocument]: LintDocument[K] }

/** The model of one document; `strays` is filled in by who looks for them. */
export function modelOf(object: StacDocument, around: Surroundings): Draft {
  const declarations = declarationsOf(object)
  const kind = kindOf(object)
  const document: Draft = {
    object,
    kind,
    at: around.at,
    url: around.url,
    name: around.name,
    wrapper: around.wrapper,
    parents: around.parents,
    preset: around.preset,
    run: around.run,
    declarations,
    declared: declarations.length > 0 || (around.wrapper !== undefined && declarationsOf(around.wrapper).length > 0),
    version: versionOfDocument(object, around.wrapper),
    map: mapOf(object, kind, around.at),
    summaries: [],
    schemes: [],
    targets: [],
    strays: [],
  }
  document.targets = targetsIn(document)
  document.schemes = schemesIn(document)
  return document
}

function mapOf(object: StacDocument, kind: DocumentKind, at: string): LintDocument['map'] {
  const value = own(kind === 'item' ? own(object, 'properties') : object, 'auth:schemes')
  return value === undefined ? undefined : { value, pointer: at + (kind === 'item' ? '/properties/auth:schemes' : '/auth:schemes') }
}

function schemesIn(document: Draft): SchemeNode[] {
  const found: SchemeNode[] = []
  if (document.map) addSchemes(found, document, document.map.value, document.map.pointer, false)
  if (document.kind !== 'collection') return found
  const summary = own(own(document.object, 'summaries'), 'auth:schemes')
  if (!Array.isArray(summary)) return found
  document.summaries = summary.filter(isObject)
  summary.forEach((map, index) => {
    addSchemes(found, document, map, `${document.at}/summaries/auth:schemes/${index}`, true)
  })
  return found
}

function addSchemes(found: SchemeNode[], document: LintDocument, map: unknown, at: string, summary: boolean): void {
  if (!isObject(map)) return
  for (const name of Object.keys(map)) {
    const value = map[name]
    if (!isObject(value)) continue
    const type = own(value, 'type')
    const flows: FlowNode[] = []
    const scheme = {
      document,
      name,
      value,
      pointer: pointer(at, name),
      type: typeof type === 'string' ? type : undefined,
      siblings: map,
      summary,
      flows,
    }
    if (type === 'oauth2' || type === 'signedUrl') addFlows(flows, scheme)
    found.push(scheme)
  }
}

function addFlows(found: FlowNode[], scheme: SchemeNode): void {
  const flows = own(scheme.value, 'flows')
  if (!isObject(flows) || isFlat(flows)) return
  for (const name of Object.keys(flows)) {
    const value = flows[name]
    if (!isObject(value)) continue
    const parameters: ParameterNode[] = []
    const flow = { scheme, name, value, pointer: pointer(scheme.pointer, 'flows', name), parameters }
    if (scheme.type === 'signedUrl') addParameters(parameters, flow)
    found.push(flow)
  }
}

function addParameters(found: ParameterNode[], flow: FlowNode): void {
  const parameters = own(flow.value, 'parameters')
  if (!isObject(parameters)) return
  for (const name of Object.keys(parameters)) {
    const value = parameters[name]
    if (isObject(value)) found.push({ flow, name, value, pointer: pointer(flow.pointer, 'parameters', name) })
  }
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
  if (Array.isArray(links))
    for (const [index, link] of links.entries()) add(found, document, 'link', String(index), link, `${at}/links/${index}`)
  return found
}

function addAssets(found: TargetNode[], document: LintDocument, assets: unknown, at: string, kind: 'asset' | 'item_asset'): void {
  if (!isObject(assets)) return
  for (const name of Object.keys(assets)) {
    const asset = add(found, document, kind, name, assets[name], pointer(at, name))
    const alternates = asset && own(asset.object, 'alternate')
    if (!isObject(alternates)) continue
    for (const key of Object.keys(alternates)) {
      if (key === 'auth:refs' || key === 'auth:schemes') continue
      add(found, document, 'alternate', key, alternates[key], pointer(asset?.pointer ?? at, 'alternate', key), asset)
    }
  }
}

function add(
  found: TargetNode[],
  document: LintDocument,
  kind: TargetNode['kind'],
  name: string,
  object: unknown,
  at: string,
  asset?: TargetNode,
): TargetNode | undefined {
  if (!isObject(object)) return undefined
  const href = own(object, 'href')
  const refs = own(object, 'auth:refs')
  const target = {
    document,
    kind,
    name,
    object,
    pointer: at,
    href: typeof href === 'string' ? href : undefined,
    refs: Array.isArray(refs) ? refs : undefined,
    asset,
  }
  found.push(target)
  return target
}
