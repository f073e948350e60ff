/**
 * Compiles schemas/authentication to src/lint/schema/validators/index.ts, so that neither ajv nor `new Function` is
 * needed at run time. `--check` writes nothing and exits 1 when the file is stale.
 */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { KINDS, SCHEMA_VERSIONS } from '../src/lint/schema/kinds.ts'
import { checkOnly, emit } from './emit.ts'

const FOLDER = new URL('../schemas/authentication/', import.meta.url)
const OUTPUT = new URL('../src/lint/schema/validators/index.ts', import.meta.url)

/** RFC 3986 with a scheme; short enough to be inlined, and as strict as the format of the usual validators. */
const URI =
  /^[a-z][a-z\d+.-]*:(?:\/\/(?:(?:[\w.~!$&'()*+,;=:-]|%[\da-f]{2})*@)?(?:\[[\da-fv.:]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?(?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})*)?|(?!\/\/)(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})+)(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?$/i

const DRAFT_07 = 'http://json-schema.org/draft-07/schema'

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
ajv.addSchema(load('common.json'))

const exported: Record<string, string> = {}
for (const version of SCHEMA_VERSIONS) ajv.addSchema(load(`v${version}/schemes.json`))
for (const version of SCHEMA_VERSIONS) {
  for (const kind of KINDS) {
    const schema = load(`v${version}/${kind}.json`)
    ajv.addSchema(schema)
    exported[`${kind}_${version.replaceAll('.', '_')}`] = schema.$id
  }
}

const code = (standalone as unknown as { default: (ajv: Ajv, refs: Record<string, string>) => string }).default(ajv, exported)
const trimmed = withoutTwins(
  code
    .replace('"use strict";', '')
    .replace(/\n?validate\d+\.evaluated = \{[^}]*\};/g, '')
    .replace(/schemaPath:"[^"]*",/g, '')
    .replace(
      /const (err\d+) = (\{.*\});\nif\(vErrors === null\)\{\nvErrors = \[\1\];\n\}\nelse \{\nvErrors\.push\(\1\);\n\}/g,
      'vErrors = add(vErrors, $2);',
    )
    .replace(/vErrors === null \? (validate\d+)\.errors : vErrors\.concat\(\1\.errors\)/g, 'join(vErrors, $1.errors)')
    .replace(/(key\d+)\.replace\(\/~\/g, "~0"\)\.replace\(\/\\\/\/g, "~1"\)/g, 'escape($1)')
    .replace(/\(data, \{instancePath="", parentData, parentDataProperty, rootData=data\}=\{\}\)/g, "(data, instancePath = '')")
    .replace(/, \{instancePath:((?:[^,{}]|escape\(\w+\))+),parentData:[^{}]*?rootData\}\)/g, ', $1)')
    .replace(/, \{instancePath,parentData[^{}]*?rootData\}\)/g, ', instancePath)')
    .replace(/\/\*# sourceURL="[^"]*" \*\/;?/g, '')
    .replace(
      /add\(vErrors, \{(?:instancePath:)?([^,]*),keyword:("[^"]*"),params:\{(?:missingProperty|type): ("[^"]*")\}\}\)/g,
      'add(vErrors, $1, $2, $3)',
    )
    .replace(/add\(vErrors, \{(?:instancePath:)?([^,]*),keyword:("[^"]*"),params:\{[^{}]*\}\}\)/g, 'add(vErrors, $1, $2)')
    .replace(/add\(vErrors, \{\}\)/g, "add(vErrors, '', 'if')")
    .replace(/const schema\d+ = \{"\$schema".*\};\n/g, '')
    .replace(/(\w+) && typeof \1 == "object" && !Array\.isArray\(\1\)/g, 'isObject($1)')
    .replace(
      /if\(!\((validate\d+)\((.*)\)\)\)\{\nvErrors = join\(vErrors, \1\.errors\);\nerrors = vErrors\.length;\n\}/g,
      'vErrors = run(vErrors, $1, $2);',
    )
    // The number of errors is the length of their list: no second count is kept.
    .replace(
      /errors = (_errs\d+);\nif\(vErrors !== null\)\{\nif\(\1\)\{\nvErrors\.length = \1;\n\}\nelse \{\nvErrors = null;\n\}\n\}/g,
      'vErrors = cut(vErrors, $1);',
    )
    .replace(/\n(?:let errors = 0|errors\+\+);/g, '')
    .replace(/\berrors = vErrors\.length;\n/g, '')
    .replaceAll('return errors === 0;', 'return vErrors === null;')
    .replace(/(const _errs\d+ = |_errs\d+ === )errors;/g, '$1count(vErrors);')
    .replace(/\berrors === (_errs\d+)/g, 'count(vErrors) === $1')
    .replace(/\n{2,}/g, '\n'),
)
const HELPERS = `
function add(errors, pointer, keyword, detail) {
  const error = { pointer, keyword, detail }
  return errors === null ? [error] : (errors.push(error), errors)
}
function isObject(data) { return data && typeof data === 'object' && !Array.isArray(data) }
function run(errors, validate, data, instancePath) {
  return validate(data, instancePath) ? errors : join(errors, validate.errors)
}
function count(errors) { return errors === null ? 0 : errors.length }
function cut(errors, length) {
  if (errors === null || length === 0) return null
  errors.length = length
  return errors
}
function join(errors, more) {
  if (errors === null) return more
  for (const error of more) errors.push(error)
  return errors
}
function escape(key) { return /[~/]/.test(key) ? key.replace(/~/g, '~0').replace(/\\//g, '~1') : key }
`
if (/\brequire\(|new Function|\beval\(/.test(trimmed)) throw new Error('the compiled validators are not plain ES modules')
if (/(?<![.\w])errors\b/.test(trimmed)) throw new Error('a count of errors is still kept')
emit(
  OUTPUT,
  `// @ts-nocheck\n// Generated by scripts/generate-validators.ts from schemas/authentication; do not edit.\n${trimmed.trim()}${HELPERS}`,
  checkOnly(),
)

/** Several kinds and versions have the same assets and links: of functions that differ in their names only, one stays. */
function withoutTwins(source: string): string {
  const first = new Map<string, string>()
  const twins = new Map<string, string>()
  const kept = source.replace(/^function (validate\d+)\([\s\S]*?\nreturn vErrors === null;\n\}\n/gm, (text, name: string) => {
    const body = text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), 'self')
    const known = first.get(body)
    if (known === undefined) first.set(body, name)
    else twins.set(name, known)
    return known === undefined ? text : ''
  })
  return twins.size === 0 ? source : withoutTwins(kept.replace(/\bvalidate\d+\b/g, (name) => twins.get(name) ?? name))
}

function load(path: string): { $id: string } {
  return JSON.parse(readFileSync(new URL(path, FOLDER), 'utf8'))
}
