/** Writes docs/json.md: the JSON that commands print, with the fields of each from the types and comments of the sources. */
import { join } from 'node:path'
import ts from 'typescript'
import { type Files, root } from './files.ts'

/** One field of an object. */
interface Field {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
  readonly meaning: string
}

/** Objects of one kind. */
interface Shape {
  /** Heading, where an output has several kinds of objects; `kind` tells them apart. */
  readonly title?: string
  readonly fields: readonly Field[]
}

/** What a command prints. */
interface JsonOutput {
  /** `queue show --json`. */
  readonly command: string
  readonly what: string
  readonly shapes: readonly Shape[]
}

/** Everything that is printed: outputs, and the objects inside of them, each once. */
interface JsonOutputs {
  readonly outputs: readonly JsonOutput[]
  readonly error: Shape
  readonly objects: readonly Shape[]
}

/** A type of the sources: `auth/auth.ts Explanation`, all fields but `without`, or only those of `only`. */
interface Source {
  /** Heading, for one of several. */
  readonly title?: string
  readonly of: string
  readonly without?: readonly string[]
  readonly only?: readonly string[]
  /** Fields that the command adds. */
  readonly and?: readonly Field[]
}

interface Entry {
  readonly command: string
  readonly what: string
  readonly sources: readonly Source[]
}

const field = (name: string, type: string, meaning: string, isOptional = false): Field => ({ name, type, isOptional, meaning })

const LINT = [
  {
    of: 'lint/reporters/report.ts Report',
    only: ['version', 'problems', 'summary'],
    and: [field('shard', 'object', 'What `merge` needs to know, with `--shard`.', true)],
  },
]
const REPORT =
  'One report; `--format ndjson` prints a line for each finding, then `{"version": 1, "summary": …}`. [JSON Schema](../schemas/report.json).'

const ENTRIES: readonly Entry[] = [
  { command: 'lint --format json', what: REPORT, sources: LINT },
  {
    command: 'explain --json',
    what: 'A list with one object for each target.',
    sources: [{ of: 'cli/commands/explain.ts ExplainedTarget', without: ['warnings'] }],
  },
  {
    command: 'authorize --as json',
    what: 'One request, **with its secrets**.',
    sources: [
      {
        of: 'auth/auth.ts AuthorizedRequest',
        only: ['method', 'url', 'headers', 'ref', 'scheme', 'credential', 'expiresAt', 'pointer'],
      },
    ],
  },
  {
    command: 'authorize --as ndjson',
    what: 'A line for each target. Secrets are hidden without `--reveal`.',
    sources: [
      {
        of: 'auth/auth.ts AuthorizedRequest',
        only: ['method', 'url', 'headers', 'body', 'ref', 'scheme', 'credential', 'expiresAt'],
        and: [
          field('id', 'string', 'That of the document, or of the line of the input.', true),
          field('collection', 'string', 'That of the document, or of the line of the input.', true),
          field('asset', 'string', 'Key of the asset.', true),
          field('pointer', 'string', 'JSON Pointer of an alternate asset.', true),
          field('href', 'string', 'The URL, for a line of the input that names one.', true),
          field('error', 'error', 'Why the target cannot be requested, in place of the request.', true),
        ],
      },
    ],
  },
  {
    command: 'download --json',
    what: 'A line for each event; the summary comes last.',
    sources: [
      { of: 'node/download/download.ts DownloadEvent' },
      { title: '`planned`, with `--dry-run`', of: 'cli/download/dry-run.ts Access', and: [field('file', 'DownloadFile', 'The file.')] },
    ],
  },
  {
    command: 'verify --json',
    what: 'A line for each file; the summary comes last.',
    sources: [{ of: 'node/download/verify-folder.ts VerifyEvent' }],
  },
  { command: 'list --json', what: 'A line for each object.', sources: [{ of: 'objects/list-objects.ts StoredObject' }] },
  {
    command: 'gateway --json',
    what: 'First `{"ready": {"base": …, "targets": [ … ]}}`, then a line `{"request": { … }}` for each request. These are the targets and requests.',
    sources: [
      { title: 'A target', of: 'node/gateway/gateway.ts GatewayTarget' },
      { title: 'A request', of: 'node/gateway/gateway.ts GatewayRequest' },
    ],
  },
  {
    command: 'setup --json',
    what: 'A list with one object for each scheme and each known provider of the documents, and for each provider named; nothing is written.',
    sources: [
      { title: 'A scheme', of: 'cli/setup/report.ts ReportedScheme' },
      { title: 'A provider', of: 'cli/setup/report.ts ReportedProvider' },
    ],
  },
  {
    command: 'providers --json',
    what: 'A list of providers; one provider for `providers ID`.',
    sources: [{ of: 'cli/commands/providers.ts Listed' }],
  },
  {
    command: 'status --json',
    what: 'A list with one object for each credential with tokens; never a token.',
    sources: [{ of: 'auth/auth.ts CredentialStatus' }],
  },
  {
    command: 'credentials list --json',
    what: 'A list with one object for each credential, without its secrets.',
    sources: [{ of: 'cli/commands/credentials.ts Listed' }],
  },
  {
    command: 'credentials check --json',
    what: 'One object: `file`, the path; `credentials`, as `credentials list` prints them; `problems`, a list of errors.',
    sources: [],
  },
  { command: 'doctor --json', what: 'A list of checks.', sources: [{ of: 'cli/doctor/check.ts Check' }] },
  {
    command: 'rules --json',
    what: 'A list of rules; one rule for `rules ID`.',
    sources: [{ of: 'cli/commands/rules.ts Listed' }],
  },
  {
    command: 'queue show --json',
    what: 'One object, also of `queue pause` and `queue resume`.',
    sources: [{ of: 'node/queue/queue-control.ts QueueStatus' }],
  },
  { command: 'queue workers --json', what: 'A line for each worker.', sources: [{ of: 'node/queue/queue-processes.ts QueueWorker' }] },
  { command: 'queue failed --json', what: 'A line for each file.', sources: [{ of: 'node/queue/queue-control.ts FailedFile' }] },
  {
    command: 'translate --json',
    what: 'A list with one object for each text, file or document of which something is translated; `--usage` alone prints one object.',
    sources: [
      { title: 'an input', of: 'cli/translate/translate.ts TranslatedInput' },
      {
        title: 'the usage, with `--usage` alone',
        of: 'services/translation/admin.ts Usage',
        without: ['remaining', 'anyLimitReached', 'allows'],
      },
      { title: 'a catalog that is continued', of: 'cli/translate/catalog.ts CatalogAccount' },
    ],
  },
  { command: 'translate catalog --json', what: 'One object.', sources: [{ of: 'cli/translate/catalog.ts CatalogAccount' }] },
  {
    command: 'translate glossaries --json',
    what: 'A list of `glossaries list`, one object of `get` and `create`, null of `delete`.',
    sources: [{ of: 'services/translation/glossaries.ts MultilingualGlossary' }],
  },
  {
    command: 'translate style-rules --json',
    what: 'A list, as the service has it.',
    sources: [{ of: 'services/translation/style-rules.ts StyleRuleList' }],
  },
  {
    command: 'translate languages --json',
    what: 'A list, as the service has it.',
    sources: [{ of: 'services/translation/languages.ts Language' }],
  },
]

/** The error that every command prints as one line on stderr, with an option for JSON. */
const ERROR = {
  of: 'errors.ts AuthErrorFields',
  without: ['cause'],
  and: [field('code', 'string', 'The stable reason: [errors](errors.md).'), field('message', 'string', 'The reason for people.')],
}

/** Reads the sources. */
function jsonOutputs(): JsonOutputs {
  const all = [...ENTRIES.flatMap(({ sources }) => sources), ERROR]
  const paths = [...new Set(all.map(({ of }) => join(root, 'src', of.split(' ')[0] ?? '')))]
  const program = ts.createProgram(paths, {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    paths: { '#platform': [join(root, 'src/platform/node.ts')] },
  })
  const checker = program.getTypeChecker()
  const reader: Reader = { checker, inside: new Map(), shown: new Set() }
  const types = new Map(all.map((source) => [source.of, typeOf(source.of, program, checker)]))
  for (const type of types.values()) reader.shown.add(type)
  const shapes = (source: Source) => shapesOf(source, types.get(source.of) as ts.Type, reader)
  const outputs = ENTRIES.map(({ command, what, sources }) => ({ command, what, shapes: sources.flatMap(shapes) }))
  const [error = { fields: [] }] = shapes(ERROR)
  const objects: Shape[] = []
  // Objects inside of objects are found while these are described; a Map goes on with what is added.
  for (const [name, type] of reader.inside) objects.push({ ...shapeOf({ of: name }, type, reader), title: `\`${name}\`` })
  return { outputs, error, objects: objects.sort((one, other) => ((one.title ?? '') < (other.title ?? '') ? -1 : 1)) }
}

interface Reader {
  readonly checker: ts.TypeChecker
  /** Types of the sources that are named in a field and have no table yet. */
  readonly inside: Map<string, ts.Type>
  /** Types that have a table. */
  readonly shown: Set<ts.Type>
}

function typeOf(of: string, program: ts.Program, checker: ts.TypeChecker): ts.Type {
  const [path = '', name] = of.split(' ')
  const file = program.getSourceFile(join(root, 'src', path))
  const found = file?.statements.find(
    (one): one is ts.InterfaceDeclaration | ts.TypeAliasDeclaration =>
      (ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one)) && one.name.text === name,
  )
  if (!found) throw new Error(`src/${path} has no type ${name}`)
  return checker.getTypeAtLocation(found)
}

/** Returns one shape, or one for each member of a union that `kind` tells apart. */
function shapesOf(source: Source, type: ts.Type, reader: Reader): readonly Shape[] {
  if (!type.isUnion()) return [shapeOf(source, type, reader)]
  return type.types.map((one) => {
    const { fields } = shapeOf(source, one, reader)
    const kind = fields.find(({ name }) => name === 'kind')?.type ?? ''
    return { title: `\`${kind.replaceAll("'", '')}\``, fields: fields.filter(({ name }) => name !== 'kind') }
  })
}

function shapeOf({ title, without = [], only, and = [] }: Source, type: ts.Type, reader: Reader): Shape {
  const all = reader.checker.getPropertiesOfType(type)
  const symbols = only?.flatMap((name) => all.find((one) => one.name === name) ?? []) ?? all.filter(({ name }) => !without.includes(name))
  const fields = symbols.map((symbol) => fieldOf(symbol, reader))
  const ordered = [...and.filter(({ isOptional }) => !isOptional), ...fields, ...and.filter(({ isOptional }) => isOptional)]
  return { ...(title !== undefined && { title }), fields: ordered }
}

function fieldOf(symbol: ts.Symbol, reader: Reader): Field {
  const { checker } = reader
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(symbol))
  const meaning = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replace(/\s+/g, ' ')
  return { name: symbol.name, type: nameOf(type, reader), isOptional: (symbol.flags & ts.SymbolFlags.Optional) !== 0, meaning }
}

/** Returns the type as in JSON. Objects of the sources get a table of their own; errors are all printed alike; codes are text. */
function nameOf(type: ts.Type, reader: Reader): string {
  const { checker } = reader
  const alias = type.aliasSymbol?.name
  if (alias === 'ErrorCode' || alias === 'ReplayableBody') return 'string'
  const [element] = checker.isArrayType(type) ? checker.getTypeArguments(type as ts.TypeReference) : []
  if (element) {
    const one = nameOf(element, reader)
    return one.includes(' | ') ? `(${one})[]` : `${one}[]`
  }
  const name = type.symbol?.name ?? ''
  if (name === 'AuthError') return 'error'
  // Fields of credentials are those of the credential file, which has a page of its own.
  if (alias === 'Readonly' || alias === 'Record' || name === 'CredentialObject') return 'object'
  const isOurs = type.symbol?.declarations?.some((one) => ts.isInterfaceDeclaration(one) && one.getSourceFile().fileName.includes('/src/'))
  if (isOurs && !reader.shown.has(type) && !reader.inside.has(name)) reader.inside.set(name, type)
  const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias
  const text = checker.typeToString(type, undefined, flags).replaceAll('readonly ', '').replaceAll('"', "'")
  // Long lists of names are those of a service.
  if (text.length <= MAX_TYPE) return text
  return type.isUnion() ? 'string' : 'object'
}

const MAX_TYPE = 300

/** Fields whose names do not say enough: below the first list that has them, their comment in the source. */
const EXPLAINED = new Set(
  'attempt baselined byAddress cause changed count delay exit expected fingerprint fix folder hop incomplete isComplete isWhole kept missing number persistent present received refreshable resumable resumed reused secondsLeft secretTo sent shard signature state stopped targets unasked uncounted unlisted unverified used user verified ways'.split(
    ' ',
  ),
)
const explained = new Set<string>()

/** A field without a type is text. */
function shapeText({ title, fields }: Shape): string {
  const names = fields.map(({ name, type, isOptional }) => `\`${name}${isOptional ? '?' : ''}${type === 'string' ? '' : `: ${type}`}\``)
  const notes = fields.flatMap(({ name, meaning }) => {
    if (!EXPLAINED.has(name) || explained.has(`${name} ${meaning}`)) return []
    explained.add(`${name} ${meaning}`)
    return [`- \`${name}\`: ${meaning.replace(/\{@link (\w+)\}/g, '`$1`').replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())}`]
  })
  const list = notes.length > 0 ? `\n${notes.join('\n')}\n` : ''
  return `${title === undefined ? '' : `### ${title}\n\n`}${wrapped(names.join(', '))}\n${list}`
}

/** Breaks a line between fields. */
function wrapped(list: string): string {
  const lines = ['']
  for (const word of list.split(/(?<=`,) /)) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length >= 140) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.join('\n')
}

const { outputs, error, objects } = jsonOutputs()
const text = `# JSON outputs

<!-- Generated by npm run generate; do not edit. -->

The fields of what commands print for programs. Results go to stdout, one JSON value or one object per line; everything for people goes to stderr.
A field without a type is text; one with \`?\` is absent when there is nothing to say. New versions add fields and remove none
([versions and promises](versioning.md)).

\`\`\`sh
stac-auth explain item.json --json | jq -r '.[] | select(.refs | any(.code)) | .pointer'   # what cannot be requested
stac-auth download item.json -d data --json | jq -c 'select(.kind == "failed") | .error'   # what failed, and why
\`\`\`

\`time … --json\` prints the JSON of the service, without its envelope.

${outputs.map(({ command, what, shapes }) => `## ${command}\n\n${what}\n\n${shapes.map(shapeText).join('\n')}`).join('\n')}
## Errors

With an option for JSON, a command that fails prints one line on stderr. Errors inside outputs have the same fields.

${shapeText(error)}
## Objects inside outputs

${objects.map(shapeText).join('\n')}`
export const files: Files = { 'docs/json.md': `${text.trimEnd()}\n` }
