/** Compares the JSON that a command printed with docs/json.md, so that each test of a command is one of its documentation, too. */
import { readFileSync } from 'node:fs'

interface Table {
  readonly title: string
  /** Types by field. */
  readonly fields: ReadonlyMap<string, string>
  readonly required: readonly string[]
}

/** The lists of fields by their section: `queue status`. */
const sections = new Map(
  readFileSync(new URL('../../docs/json.md', import.meta.url), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => [sectionName(section), tablesIn(section)]),
)
const objects = new Map((sections.get('Objects inside outputs') ?? []).map((table) => [table.title, table]))
const errors = sections.get('Errors') ?? []

function sectionName(section: string): string {
  return section.slice(0, section.indexOf('\n')).replace(/ --(?!as ndjson).*/, '')
}

function tablesIn(section: string): readonly Table[] {
  return section.split(/^(?=### )/m).flatMap((part) => {
    // Sentences and lists of explanations stand around the list of fields.
    const line = part.split('\n\n').find((one) => /^`\w+\??(?:: [^`]+)?`(?:,|$)/.test(one)) ?? ''
    const rows = [...line.matchAll(/`(\w+)(\?)?(?:: ([^`]+))?`/g)]
    if (rows.length === 0) return []
    const fields = new Map(rows.map(([, name = '', , type = 'string']) => [name, type]))
    const required = rows.flatMap(([, name = '', optional]) => (optional ? [] : [name]))
    return [{ title: (/^### `?([^`\n]+)/.exec(part)?.[1] ?? '').trim(), fields, required }]
  })
}

/** Returns what the page does not say about the output of a command, or says wrongly. */
export function undocumentedJson(argv: readonly string[], stdout: string): readonly string[] {
  const words = argv.filter((word) => !word.startsWith('-'))
  const [first = '', second = ''] = words
  const lines = first === 'authorize' && words.includes('ndjson')
  const name = lines ? 'authorize --as ndjson' : first === 'queue' && /^(?:pause|resume)$/.test(second) ? 'queue show' : first
  const tables = (lines ? undefined : sections.get(`${first} ${second}`)) ?? sections.get(name)
  const asked = argv.includes('--json') || /(?:--as|--format)[= ]json(?![=\w])/.test(argv.join(' ')) || lines
  if (!tables || !asked || tables.length === 0) return []
  return valuesIn(stdout).flatMap((value) => {
    const printed = first === 'gateway' ? [...(value.ready?.targets ?? []), ...(value.request ? [value.request] : [])] : [value]
    return printed.flatMap((one) => differences(one, tables, first))
  })
}

/** JSON of any command. */
interface Value {
  readonly kind?: string
  readonly error?: Value
  readonly ready?: { readonly targets: readonly Value[] }
  readonly request?: Value
  readonly [field: string]: unknown
}

/** Reads one value, a list, or lines; what is cut off at the end is left out. */
function valuesIn(text: string): readonly Value[] {
  try {
    return [JSON.parse(text)].flat()
  } catch {
    return text.split('\n').flatMap((line) => {
      try {
        return [JSON.parse(line)]
      } catch {
        return []
      }
    })
  }
}

function differences(value: Value, tables: readonly Table[], at: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [`${at}: ${JSON.stringify(value)} is not an object`]
  // Only some objects are named by their kind.
  const ofKind = tables.filter(({ title }) => title.split('`')[0] === value.kind)
  const named = ofKind.length === 0 ? tables : ofKind
  const found = named.map((table) => compared(value, table, at))
  return found.find((problems) => problems.length === 0) ?? found[0] ?? [`${at}: no table for ${JSON.stringify(value).slice(0, 200)}`]
}

function compared(value: Value, { title, fields, required }: Table, at: string): readonly string[] {
  const unknown = Object.keys(value).filter((name) => name !== 'kind' && !fields.has(name))
  const missing = value.error === undefined ? required.filter((name) => !(name in value)) : []
  const inside = Object.entries(value).flatMap(([name, below]) => {
    const type = (fields.get(name) ?? '').replace('[]', '')
    const tables = type === 'error' ? errors : [objects.get(type) ?? []].flat()
    return tables.length === 0 ? [] : ([below].flat() as Value[]).flatMap((one) => differences(one, tables, `${at}.${name}`))
  })
  const where = title === '' ? at : `${at} (${title})`
  return [
    ...unknown.map((name) => `${where}: ${name} is not in docs/json.md`),
    ...missing.map((name) => `${where} lacks ${name}`),
    ...inside,
  ]
}
