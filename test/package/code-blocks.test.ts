/** Code in the documentation: JSON parses, commands and options exist, TypeScript compiles against the declarations that users get. */
import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { type ExportedName, surfaces } from '../../scripts/api-surface.ts'
import { wholeProgram } from '../../src/cli/program.ts'
import { projectFiles, root } from '../architecture/files.ts'

interface Block {
  /** `docs/a.md:12`. */
  readonly at: string
  readonly language: string
  readonly text: string
}

const pages = projectFiles().filter(({ path }) => /^README\.md$|^docs\/.*\.md$/.test(path))
const blocks: readonly Block[] = pages.flatMap(({ path, text }) =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(({ index, 1: language = '', 2: body = '' }) => ({
    at: `${path}:${text.slice(0, index).split('\n').length}`,
    language,
    text: body,
  })),
)

it('JSON can be parsed, alone or as members of a list', () => {
  // These rules are about documents that are not JSON, or too large.
  const isAbout = ({ at }: Block) => /^docs\/rules\/(?:document-limit|not-json|unreachable)\.md/.test(at)
  const all = blocks.filter((block) => block.language === 'json' && !isAbout(block))
  const broken = all.filter(({ text }) => !parses(text) && !parses(`[${text}]`))
  expect(all.length).toBeGreaterThan(25)
  expect(broken.map(({ at }) => at)).toEqual([])
})

function parses(text: string): boolean {
  try {
    JSON.parse(text.replaceAll('…', ''))
    return true
  } catch {
    return false
  }
}

it('commands and their options exist', async () => {
  const io = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env: {},
    signal: new AbortController().signal,
  }
  const diagnostics = { error: async () => {}, warn: () => {}, note: async () => {} }
  const program = await wholeProgram({ io, diagnostics, run: () => async () => {} })
  const lines = blocks
    .filter(({ language }) => ['sh', 'text', 'console', 'yaml'].includes(language))
    .flatMap(({ at, text }) => commandsIn(text).map((words) => ({ at, words })))
  expect(lines.length).toBeGreaterThan(100)
  expect(lines.flatMap(({ at, words }) => problemOf(words, program)?.map((problem) => `${at} ${problem}`) ?? [])).toEqual([])
})

/** Returns the words after `stac-auth` of each command, up to what another program gets. */
function commandsIn(text: string): readonly (readonly string[])[] {
  const joined = text.replace(/\\\n\s*/g, ' ')
  const lines = joined.split('\n').filter((line) => /(?:^|\$ |\| |run: |[;&(]\s*)(?:npx )?stac-auth [a-z]/.test(line.trim()))
  return lines.map((line) => {
    const [, rest = ''] = /(?:^|[\s;&(|])stac-auth (.*)$/.exec(line) ?? []
    const own = rest.replace(/\s#.*$/, '').split(/\s(?:\||>|2>|&&|;|<)|\s--\s|\s--$|\)/)[0] ?? ''
    return own.trim().split(/\s+/)
  })
}

function problemOf(words: readonly string[], program: Command): readonly string[] | undefined {
  const [name = '', ...rest] = words
  if (name.startsWith('-')) return undefined
  const command = program.commands.find((one) => one.name() === name)
  if (!command) return [`has no command "${name}"`]
  const path = [program, command]
  for (const word of rest) {
    const inside = path.at(-1)?.commands
    // Any collection has the commands and options of `projects`.
    const isCollection = path.at(-1)?.name() === 'time' && /^[a-z]/.test(word)
    const below = inside?.find((one) => one.name() === word) ?? inside?.find((one) => isCollection && one.name() === 'projects')
    if (below) path.push(below)
  }
  const known = path.flatMap(({ options }) => options)
  const flags = words.filter((word) => /^--[a-z]/.test(word)).map((word) => word.replace(/[='"`].*$/, ''))
  return flags
    .filter((flag) => flag !== '--help' && !known.some(({ long }) => long === flag))
    .map((flag) => `${name} has no option ${flag}`)
}

it('TypeScript compiles; names from outside of a block may be anything', { timeout: 240_000 }, () => {
  const texts = blocks.filter(({ language }) => language === 'ts')
  expect(texts.length).toBeGreaterThan(30)
  expect(problemsOf(texts)).toEqual([])
})

it('examples in comments compile, with the names of their entry point', () => {
  const all = surface.flatMap(({ entry, names }) =>
    names.flatMap(({ name, examples, memberExamples }) =>
      [...examples, ...memberExamples].map((text) => ({
        at: `${entry.name} ${name}`,
        text: `${importsFor(text, entry.name, names)}\n${inFunction(text)}`,
      })),
    ),
  )
  expect(all.length).toBeGreaterThan(80)
  expect(problemsOf(all)).toEqual([])
}, 60_000)

/** Returns imports of the names of the entry point and of `stac-auth` that the text uses, unless it has imports itself. */
function importsFor(text: string, entry: string, names: readonly ExportedName[]): string {
  if (/^import /m.test(text)) return ''
  const code = text.replace(/'[^']*'|(?<!\.)\.\w+/g, '')
  const used = (all: readonly ExportedName[]) => all.map(({ name }) => name).filter((name) => new RegExp(`\\b${name}\\b`).test(code))
  const own = used(names)
  const general = used(core).filter((name) => !own.includes(name))
  return `import { ${own.join(', ')} } from '${entry}'\n${entry === 'stac-auth' ? '' : `import { ${general.join(', ')} } from 'stac-auth'`}`
}

const surface = surfaces()
const core = surface.find(({ entry }) => entry.name === 'stac-auth')?.names ?? []

/** Steps of a flow are examples, too. */
const inFunction = (text: string) => (/\byield\b/.test(text) ? `async function* flow() {\n${text}\n}` : text)

/** Declarations, parsed once for all blocks. */
const parsed = new Map<string, ts.SourceFile | undefined>()

/** Returns what the compiler says about blocks, except that it does not know a name. */
function problemsOf(texts: readonly Pick<Block, 'at' | 'text'>[]): readonly string[] {
  const sources = new Map(texts.map(({ at, text }, index) => [`${root}docs/block-${index}.ts`, { at, text: `${text}\nexport {}\n` }]))
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    skipLibCheck: true,
    noEmit: true,
    strict: true,
    noImplicitAny: false,
    types: ['node'],
  }
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists, getSourceFile } = host
  host.readFile = (name) => sources.get(name)?.text ?? readFile.call(host, name)
  host.fileExists = (name) => sources.has(name) || fileExists.call(host, name)
  host.getSourceFile = (name, version, ...more) => {
    const own = sources.get(name)
    if (own) return ts.createSourceFile(name, own.text, version)
    if (!parsed.has(name)) parsed.set(name, getSourceFile.call(host, name, version, ...more))
    return parsed.get(name)
  }
  // Leaflet has no types of its own.
  const program = ts.createProgram([...sources.keys(), `${root}test/adapters/leaflet-module.d.ts`], options, host)
  return [...sources].flatMap(([name, { at }]) => {
    const file = program.getSourceFile(name)
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
    return found
      .filter(({ code }) => !UNKNOWN_NAMES.includes(code))
      .map(({ messageText, code }) => `${at} TS${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
  })
}

/** Cannot find a name, also as a shorthand or with a suggestion. */
const UNKNOWN_NAMES = [2304, 2552, 18004]
