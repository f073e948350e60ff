/**
 * Writes schemas/document.json: all of schemas/authentication in one file without outside references, for editors. Which
 * part counts is decided by the document's `type` and the version that it declares.
 */
import { readFileSync } from 'node:fs'
import { KINDS, SCHEMA_VERSIONS } from '../src/lint/schema/violation.ts'
import { EXTENSION } from '../src/stac/document.ts'
import { checkOnly, emit } from './emit.ts'

const FOLDER = new URL('../schemas/authentication/', import.meta.url)
const TYPES = { item: 'Feature', collection: 'Collection', catalog: 'Catalog', wrapper: 'FeatureCollection' } as const

type Schema = { readonly [keyword: string]: unknown }

const files = ['common', ...SCHEMA_VERSIONS.flatMap((version) => ['schemes', ...KINDS].map((name) => `v${version}/${name}`))]
const loaded = files.map((file) => ({ file, schema: JSON.parse(readFileSync(new URL(`${file}.json`, FOLDER), 'utf8')) as Schema }))
const places = new Map(
  loaded.map(({ file, schema: loadedSchema }) => [String(loadedSchema.$id), `#/definitions/${file.replace('/', '-')}`]),
)

const branches = SCHEMA_VERSIONS.flatMap((version) =>
  KINDS.map((kind) => ({
    if: {
      required: ['type', 'stac_extensions'],
      properties: { type: { const: TYPES[kind] }, stac_extensions: { contains: { const: `${EXTENSION}v${version}/schema.json` } } },
    },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { $ref: `#/definitions/v${version}-${kind}` },
  })),
)

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'urn:stac-auth:schema:document',
  title: 'A STAC document with the authentication extension',
  allOf: branches,
  definitions: Object.fromEntries(loaded.map(({ file, schema: inner }) => [file.replace('/', '-'), moved(inner, inner)])),
}

emit(new URL('../schemas/document.json', import.meta.url), `${JSON.stringify(schema, null, 2)}\n`, checkOnly())

/** A schema inside of the file: its references lead to where everything stands now. */
function moved(value: unknown, file: Schema): unknown {
  if (Array.isArray(value)) return value.map((inner) => moved(inner, file))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => value !== file || (name !== '$id' && name !== '$schema'))
  return Object.fromEntries(members.map(([name, inner]) => [name, name === '$ref' ? placeOf(String(inner), file) : moved(inner, file)]))
}

function placeOf(ref: string, file: Schema): string {
  const [id = '', inner = ''] = ref.split('#')
  const place = places.get(id === '' ? String(file.$id) : id)
  return place === undefined ? ref : place + inner
}
