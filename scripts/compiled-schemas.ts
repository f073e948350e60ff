/** Compiles schemas/authentication with ajv, so that neither ajv nor `new Function` is needed at run time. */
import { readdirSync, readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { VERSIONS } from '../src/stac/document.ts'

const FOLDER = new URL('../schemas/authentication/', import.meta.url)

const DEFINITION = 'urn:stac-auth:schema:authentication:definition:'

const DRAFT_07 = 'http://json-schema.org/draft-07/schema'

/** RFC 3986 with a scheme; short enough to be inlined, and as strict as the format of ajv-formats. */
const URI =
  /^[a-z][a-z\d+.-]*:(?:\/\/(?:(?:[\w.~!$&'()*+,;=:-]|%[\da-f]{2})*@)?(?:\[[\da-fv.:]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?(?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})*)?|(?!\/\/)(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})+)(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?$/i

const HELPERS = `
function add(errors, pointer, keyword, detail) {
  const error = { pointer, keyword, detail }
  return errors === null ? [error] : (errors.push(error), errors)
}
function under(errors, pointer, inner) {
  for (const error of inner) errors = add(errors, pointer + error.pointer, error.keyword, error.detail)
  return errors
}
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
function escape(key) {
  return /[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key
}
`
/** The text of a module with a validator of each kind of document, and one of the schemes of each version. */
export function compiledSchemas(): string {
  const ajv = new Ajv({
    allErrors: true,
    messages: false,
    strict: false,
    meta: false,
    validateSchema: false,
    code: { source: true, esm: true, lines: true },
  })
  ajv.addFormat('uri', URI)
  // The meta-schema would be larger than all the rest: the rule parameter-schema checks what is inside.
  ajv.addSchema({ $id: DRAFT_07, type: ['object', 'boolean'] })
  // As a schema of its own, a definition is compiled once for all kinds and versions.
  for (const [name, schema] of Object.entries(load('common.json').definitions as object))
    ajv.addSchema({ ...schema, $id: DEFINITION + name })

  const exported: Record<string, string> = {}
  for (const version of VERSIONS) {
    const schema = load(`v${version}/schemes.json`)
    ajv.addSchema(schema)
    exported[`schemes_${version.replaceAll('.', '_')}`] = String(schema.$id)
  }
  for (const kind of kinds()) {
    const [newest, ...others] = VERSIONS.toReversed().map((version) => sharedSchema(load(`v${version}/${kind}.json`)))
    if (!newest || others.some((other) => !isDeepStrictEqual(other, newest)))
      throw new Error(`the schemas of ${kind} differ by version in more than schemes`)
    ajv.addSchema({ ...newest, $id: kind })
    exported[kind] = kind
  }

  const code = (standalone as unknown as { default: (ajv: Ajv, refs: Record<string, string>) => string }).default(ajv, exported)
  // An error tells where it is, the keyword, and the missing member or expected type; validators of other schemas are told only where they are.
  const terse = code
    .replace('"use strict";', '')
    .replace(/^const schema\d+ = .*\n/gm, '')
    .replace(
      /const (err\d+) = \{instancePath(?::(.*))?,schemaPath:.*,keyword:("[^"]*"),params:\{(?:(?:missingProperty|type): ("[^"]*"))?.*\};\nif\(vErrors === null\)\{\nvErrors = \[\1\];\n\}\nelse \{\nvErrors\.push\(\1\);\n\}/g,
      (_, _name, pointer = 'instancePath', keyword, detail) =>
        `vErrors = add(vErrors, ${[pointer, keyword, detail].filter(Boolean).join(', ')});`,
    )
    // What an `if` or `not` refuses is counted and then forgotten: no error is made of it.
    .replace(/const (err\d+) = \{\};\nif\(vErrors === null\)\{\nvErrors = \[\1\];\n\}\nelse \{\nvErrors\.push\(\1\);\n\}\n/g, '')
    .replaceAll(', {instancePath="", parentData, parentDataProperty, rootData=data}={}', '')
    // A pointer is made of what has an error only.
    .replace(
      /if\(!\((validate\d+)\((.*), \{instancePath(?::(.*?))?,parentData.*,rootData\}\)\)\)\{\nvErrors = vErrors === null \? \1\.errors : vErrors\.concat\(\1\.errors\);/g,
      (_, validate, value, pointer = 'instancePath') =>
        `if(!${validate}(${value})){\nvErrors = under(vErrors, ${pointer}, ${validate}.errors);`,
    )
    .replaceAll(/\binstancePath ?\+ ?/g, '')
    .replaceAll(/\binstancePath\b/g, '""')
    // Almost no name has to be escaped, and looking once is faster than replacing twice.
    .replaceAll(/(key\d+)\.replace\(\/~\/g, "~0"\)\.replace\(\/\\\/\/g, "~1"\)/g, 'escape($1)')
    .replaceAll(/(\w+) && typeof \1 == "object" && !Array\.isArray\(\1\)/g, 'isObject($1)')
    .replace(/^\/\*# sourceURL=.*\n/gm, '')
    .replace(/\n{2,}/g, '\n')
  if (/\brequire\(|\bimport\b|new Function|\beval\(/.test(terse)) throw new Error('the compiled validators are not a module on their own')
  if (/schemaPath|parentData|instancePath|schema\d|\berr\d/.test(terse))
    throw new Error('the output of ajv has changed: its errors or arguments are not recognized')
  return `// @ts-nocheck\n${terse.trim()}\n${HELPERS}`
}

/** The kinds of documents: each version has a schema of each. */
function kinds(): readonly string[] {
  const names = readdirSync(new URL(`v${VERSIONS[0]}/`, FOLDER)).map((name) => name.replace('.json', ''))
  return names.filter((name) => name !== 'schemes').sort()
}

/** The text of a schema with its definitions named as they are added. */
function load(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(path, FOLDER), 'utf8'), (name, value) =>
    name === '$ref' ? value.replace(/^.*#\/definitions\//, DEFINITION) : value,
  )
}

/**
 * Returns the part of a document's schema that all versions share: `auth:schemes` is an object, for maps of schemes have a schema of their
 * own, and `violationsOf` looks for the version in `stac_extensions`.
 */
function sharedSchema({ $id: _id, title: _title, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema), (_, value) => {
    if (value?.contains) return {}
    return String(value?.$ref).endsWith(':schemes') ? { type: 'object' } : value
  })
}
