/**
 * Validates the documents of a folder by `ajv` directly, as `ajv-cli`, `check-jsonschema` and hand-written checks do: each by the schema
 * of an Item, and by that of every extension that it declares. Prints one line per document: its path, and whether it is valid.
 *
 * `node bench/peers/ajv.mjs FOLDER SCHEMAS`, where the folder SCHEMAS has one schema per file.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'

const [folder, schemas] = process.argv.slice(2)
const ajv = new Ajv({ strict: false, logger: false, formats: { iri: URL.canParse, 'iri-reference': (text) => text !== '' } })
formats.default(ajv)
for (const name of readdirSync(schemas)) ajv.addSchema(read(join(schemas, name)))

const CORE = 'https://schemas.stacspec.org/v1.1.0/item-spec/json-schema/item.json'

const lines = readdirSync(folder).map((name) => {
  const path = join(folder, name)
  const document = read(path)
  const declared = Array.isArray(document.stac_extensions) ? document.stac_extensions : []
  const isValid = [CORE, ...declared].every((id) => ajv.getSchema(id)?.(document) ?? false)
  return `${path}: ${isValid ? 'valid' : 'invalid'}`
})
console.log(lines.join('\n'))

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
