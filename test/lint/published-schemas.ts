/**
 * The JSON Schemas that are published for the extension, as the validators of others apply them: one per version, for Items, Collections
 * and, from 1.1.0 on, Catalogs. Written after what they accept and refuse; none is a copy. 1.2.0 follows the proposal that adds it.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { declarationsOf, EXTENSION, type ExtensionVersion, isObject, own, VERSIONS } from '../../src/stac/document.ts'

/** What a schema refuses, and where. */
export interface Refusal {
  /** Pointer from the root of what was given. */
  readonly pointer: string
  readonly keyword: string
  /** The version whose schema refuses it. */
  readonly version: ExtensionVersion
  /** Member that is required and absent. */
  readonly missing: string | undefined
}

const KINDS: readonly unknown[] = ['Feature', 'Collection', 'Catalog']

const text = { type: 'string' }
const uri = { type: 'string', format: 'uri' }
const texts = { type: 'array', items: text }
const mapOf = (schema: object) => ({ type: 'object', additionalProperties: schema })

/** Of all members that begin with `auth:` this one alone is allowed. */
const onlyField = (name: string) => ({ [`^auth:(?!${name}$)`]: false })

const withRefs = { type: 'object', properties: { 'auth:refs': texts }, patternProperties: onlyField('refs') }
const assets = mapOf({ ...withRefs, properties: { ...withRefs.properties, alternate: withRefs } })
const links = { type: 'array', items: withRefs }

const parameter = {
  type: 'object',
  required: ['in', 'required'],
  properties: { in: text, required: { type: 'boolean' }, description: text, schema: { $ref: 'http://json-schema.org/draft-07/schema#' } },
}

const signedUrlFlow = {
  type: 'object',
  required: ['method', 'authorizationApi'],
  properties: { authorizationApi: uri, method: text, responseField: text, parameters: { additionalProperties: parameter } },
}

function oauth2Flows(version: ExtensionVersion) {
  const exchange = version === '1.2.0'
  return {
    additionalProperties: {
      type: 'object',
      required: ['scopes'],
      properties: {
        authorizationUrl: uri,
        tokenUrl: uri,
        refreshUrl: uri,
        scopes: mapOf(text),
        ...(exchange && { subjectTokenType: uri }),
      },
    },
    // As published: a star where none is meant, so names written twice in a row and the empty name count too.
    allOf: [
      {
        patternProperties: {
          '^(implicit|authorizationCode)*$': { required: ['authorizationUrl'] },
          [`^(password|clientCredentials|authorizationCode${exchange ? '|tokenExchange' : ''})*$`]: { required: ['tokenUrl'] },
        },
      },
    ],
  }
}

/** Requires the fields on these types, and refuses them on all others, custom ones included. */
function fieldsOf(types: readonly string[], properties: Record<string, object>) {
  const names = Object.keys(properties)
  return {
    if: { required: ['type'], properties: { type: { enum: types } } },
    // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
    then: { required: names, properties },
    else: { properties: Object.fromEntries(names.map((name) => [name, false])) },
  }
}

function only(type: string, schema: object) {
  // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
  return { if: { required: ['type'], properties: { type: { const: type } } }, then: schema }
}

function scheme(version: ExtensionVersion) {
  const chained = {
    if: { required: ['type', 'flows'], properties: { type: { const: 'oauth2' }, flows: { type: 'object', required: ['tokenExchange'] } } },
    // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
    then: { required: ['auth:refs'], properties: { 'auth:refs': { minItems: 1 } } },
  }
  return {
    type: 'object',
    required: ['type'],
    properties: { type: text, description: text, ...(version === '1.2.0' && { 'auth:refs': texts }) },
    allOf: [
      fieldsOf(['apiKey'], { name: text, in: text }),
      fieldsOf(['http'], { scheme: text }),
      fieldsOf(['openIdConnect'], { openIdConnectUrl: text }),
      fieldsOf(['oauth2', 'signedUrl'], { flows: {} }),
      only('oauth2', { properties: { flows: oauth2Flows(version) } }),
      only('signedUrl', { properties: { flows: { additionalProperties: signedUrlFlow } } }),
      ...(version === '1.2.0' ? [chained] : []),
    ],
  }
}

function strictSchema(version: ExtensionVersion) {
  const withSchemes = {
    type: 'object',
    required: ['auth:schemes'],
    properties: { 'auth:schemes': { ...mapOf(scheme(version)), propertyNames: { pattern: '^.*$' } } },
    patternProperties: onlyField('schemes'),
  }
  return {
    required: ['type', 'stac_extensions'],
    properties: { type: { enum: KINDS }, stac_extensions: declaring(version) },
    allOf: [
      only('Feature', { required: ['properties'], properties: { properties: withSchemes, assets, links } }),
      only('Collection', { allOf: [withSchemes], properties: { assets, item_assets: assets, links } }),
      only('Catalog', { allOf: [withSchemes], properties: { links } }),
    ],
  }
}

/** 1.0.0 reads the fields of a scheme as members of the map around all schemes, so it looks into no scheme; it knows no Catalogs. */
function looseSchema() {
  const asTexts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, text]))
  const parameters = {
    type: 'object',
    properties: { ...asTexts('in', 'description'), required: { type: 'boolean' }, schema: { type: 'object' } },
  }
  const flows = {
    type: 'object',
    properties: {
      ...asTexts('authorizationUrl', 'tokenUrl', 'authorizationApi', 'refreshUrl', 'method', 'responseField'),
      scopes: { type: 'object' },
      parameters,
    },
  }
  const schemes = {
    type: 'object',
    properties: { ...asTexts('type', 'description', 'name', 'in', 'scheme', 'openConnectUrl'), flows },
  }
  const fields = {
    type: 'object',
    properties: { 'auth:refs': texts, 'auth:schemes': schemes },
    patternProperties: { '^auth:(?!refs$|schemes$)': false },
  }
  const anySchemes = { required: ['auth:schemes'] }
  const withOne = { type: 'object', not: { additionalProperties: { not: { allOf: [anySchemes, fields] } } } }
  const authLinks = { type: 'array', contains: { type: 'object', required: ['rel'], properties: { rel: { const: 'auth' } } } }
  const elsewhere = {
    anyOf: [
      { required: ['assets'], properties: { assets: withOne, links: authLinks } },
      { required: ['item_assets'], properties: { item_assets: withOne } },
      { required: ['summaries'], properties: { summaries: anySchemes } },
    ],
  }
  return {
    required: ['type', 'stac_extensions'],
    properties: { type: { enum: ['Feature', 'Collection'] }, stac_extensions: declaring('1.0.0') },
    allOf: [
      only('Feature', {
        required: ['properties', 'assets', 'links'],
        properties: { properties: { allOf: [anySchemes, fields] }, assets: mapOf(fields) },
      }),
      // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
      only('Collection', { if: { not: elsewhere }, then: { allOf: [anySchemes, fields] } }),
    ],
  }
}

function declaring(version: ExtensionVersion) {
  return { type: 'array', contains: { const: addressOf(version) } }
}

export function addressOf(version: ExtensionVersion): string {
  return `${EXTENSION}v${version}/schema.json`
}

const ajv = new Ajv({ allErrors: true, strict: false })
addFormats.default(ajv)
const validators = new Map<ExtensionVersion, ValidateFunction>(
  VERSIONS.map((version) => [version, ajv.compile({ type: 'object', ...(version === '1.0.0' ? looseSchema() : strictSchema(version)) })]),
)

/**
 * What the published schemas refuse in a document or in those of an array, a FeatureCollection or a list of Collections, which have no
 * schema themselves. Each document is held against every version that it declares; one that declares none that is published, against
 * `version`.
 */
export function refusalsOf(document: unknown, version: ExtensionVersion, at = ''): Refusal[] {
  const inside = KINDS.includes(own(document, 'type'))
    ? undefined
    : ['features', 'collections'].find((name) => Array.isArray(own(document, name)))
  const inner = inside === undefined ? document : own(document, inside)
  if (!Array.isArray(inner)) return refusalsIn(document, at, version)
  return inner.flatMap((element, index) => refusalsOf(element, version, `${at}${inside === undefined ? '' : `/${inside}`}/${index}`))
}

/** An `if` that failed says what failed inside; each `const` is an extension that a list has instead of this one. */
const ECHOES = new Set(['if', 'const'])

function refusalsIn(document: unknown, at: string, fallback: ExtensionVersion): Refusal[] {
  const declared = isObject(document) ? declarationsOf(document).flatMap(({ version }) => version ?? []) : []
  const versions = declared.length > 0 ? new Set(declared) : [fallback]
  return [...versions].flatMap((version) => {
    const validate = validators.get(version)
    if (!validate) throw new Error(`no schema of ${version}`)
    return validate(document)
      ? []
      : (validate.errors ?? []).filter(({ keyword }) => !ECHOES.has(keyword)).map((error) => refusal(error, at, version))
  })
}

function refusal({ instancePath, keyword, params }: ErrorObject, at: string, version: ExtensionVersion): Refusal {
  return { pointer: at + instancePath, keyword, version, missing: keyword === 'required' ? (params.missingProperty as string) : undefined }
}
