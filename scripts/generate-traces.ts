/**
 * Fills the four traces in CONTRIBUTING.md: compiles `src` without the joining of modules that `scripts/build.ts` does, runs each trace
 * against a server on loopback, and lists the modules in which a function ran. A second process only imports the same modules; what ran there as well is module evaluation and does not count.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'
import { checkOnly, emit } from './emit.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
// Below node_modules, so that it finds the dependencies.
const PACKAGE = realpathSync(mkdtempSync(`${ROOT}node_modules/.traces-`))
const DIST = pathToFileURL(`${PACKAGE}/dist/`).href
const TOKEN = 'trace-token'
const FILE = 'II*\0bytes of a scene'

interface Trace {
  readonly title: string
  /** The most modules that it should pass. */
  readonly goal: number
  /** Modules that the goal does not count, with what is written for them. */
  readonly beyond?: { readonly modules: RegExp; readonly note: string }
  /** Arguments of `node`. */
  readonly args: readonly string[]
  /** True after a complete run that printed this. */
  readonly succeeded: (output: string) => boolean
}

/** The counts of the functions of a module, by their place in it. */
type Calls = ReadonlyMap<string, number>

interface Run {
  readonly status: number | null
  readonly output: string
  /** By URL of the module. */
  readonly calls: ReadonlyMap<string, Calls>
}

const server = createServer(answer).listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const folder = mkdtempSync(join(tmpdir(), 'traces-'))
try {
  compile()
  writeInputs()
  const lists: string[] = []
  for (const trace of traces()) lists.push(listOf(trace, await modulesOf(trace)))
  const page = new URL('../CONTRIBUTING.md', import.meta.url)
  const filled = readFileSync(page, 'utf8').replace(
    /(<!-- generated: traces -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, open: string, close: string) => `${open}${lists.join('\n')}${close}`,
  )
  emit(page, filled, checkOnly())
} finally {
  server.close()
  rmSync(folder, { recursive: true, force: true })
  rmSync(PACKAGE, { recursive: true, force: true })
}

/** Leaves the types out, without looking at them: `npm run typecheck` does. */
function compile(): void {
  copyFileSync(`${ROOT}package.json`, `${PACKAGE}/package.json`)
  const target = ts.ScriptTarget.ES2022
  const compilerOptions = { target, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true, rewriteRelativeImportExtensions: true }
  for (const path of readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))) {
    const { outputText } = ts.transpileModule(readFileSync(`${ROOT}src/${path}`, 'utf8'), { compilerOptions })
    const out = `${PACKAGE}/dist/${path.replace(/\.ts$/, '.js')}`
    mkdirSync(dirname(out), { recursive: true })
    writeFileSync(out, outputText)
  }
}

function traces(): readonly Trace[] {
  const item = join(folder, 'item.json')
  const fetching = `
    import { assetOf, bearer, createAuth } from 'stac-auth'
    const auth = createAuth({ credentials: bearer(${JSON.stringify(TOKEN)}, ${JSON.stringify(`${origin}/`)}) })
    const response = await auth.fetch(assetOf(${readFileSync(item, 'utf8')}, 'x'))
    console.log(await response.text())`
  const translating = `
    import { TranslationClient } from 'stac-auth/translation'
    const client = new TranslationClient({ apiKey: ${JSON.stringify(TOKEN)}, baseUrl: ${JSON.stringify(origin)}, allowInsecure: 'loopback' })
    console.log((await client.translateText({ text: 'Hello', target_lang: 'DE' })).translations[0].text)`
  const program = (code: string) => ['--input-type=module', '--eval', code]
  const command = (...args: string[]) => [fileURLToPath(new URL('cli/bin.js', DIST)), ...args]
  const rules = { modules: /^lint\/rules\//, note: 'the rules' }
  return [
    {
      title: "`auth.fetch(assetOf(item, 'x'))` with a bearer token",
      goal: 28,
      args: program(fetching),
      succeeded: (output) => output.includes(FILE),
    },
    {
      title: '`stac-auth lint item.json`',
      goal: 30,
      beyond: rules,
      args: command('lint', item),
      succeeded: (output) => output.includes('1 document'),
    },
    {
      title: '`stac-auth download item.json`',
      goal: 45,
      args: command('download', item, '--output-dir', join(folder, 'files')),
      succeeded: () => readFileSync(join(folder, 'files', 'scene', 'scene.tif'), 'utf8') === FILE,
    },
    {
      title: '`client.translateText({ text, target_lang })`',
      goal: 25,
      args: program(translating),
      succeeded: (output) => output.includes('Hallo'),
    },
  ]
}

function writeInputs(): void {
  const schemes = { token: { type: 'http', scheme: 'bearer' } }
  const item = {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
    id: 'scene',
    geometry: null,
    properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': schemes },
    links: [],
    assets: { x: { href: `${origin}/scene.tif`, type: 'image/tiff', 'auth:refs': ['token'] } },
  }
  writeFileSync(join(folder, 'item.json'), JSON.stringify(item))
  writeFileSync(join(folder, 'token'), TOKEN, { mode: 0o600 })
  const credential = { id: 'trace', type: 'http', scheme: 'bearer', token: { file: join(folder, 'token') }, sendTo: [`${origin}/`] }
  mkdirSync(join(folder, 'stac-auth'))
  const file = { version: 1, credentials: [credential] }
  writeFileSync(join(folder, 'stac-auth', 'credentials.json'), JSON.stringify(file), { mode: 0o600 })
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  if (!request.headers.authorization?.endsWith(` ${TOKEN}`)) {
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
  } else if (request.method === 'POST') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ translations: [{ detected_source_language: 'EN', text: 'Hallo' }] }))
  } else {
    response.writeHead(200, { 'content-type': 'image/tiff', etag: '"1"', 'content-length': FILE.length }).end(FILE)
  }
}

/** The modules below `dist/` in which a function ran after the evaluation of its module, by path. */
async function modulesOf({ title, args, succeeded }: Trace): Promise<readonly string[]> {
  const traced = await callsIn(args)
  if (traced.status !== 0 || !succeeded(traced.output)) throw new Error(`the trace of ${title} did not end: ${traced.output}`)
  const urls = [...traced.calls.keys()].filter((url) => url !== `${DIST}cli/bin.js`)
  const imports = urls.map((url) => `import ${JSON.stringify(url)}`).join('\n')
  const evaluated = await callsIn(['--input-type=module', '--eval', imports])
  const modules = urls.flatMap((url) => {
    const ran = [...(traced.calls.get(url) ?? [])].filter(([place, count]) => count > (evaluated.calls.get(url)?.get(place) ?? 0))
    return ran.map(([place]) => moduleAt(url, Number.parseInt(place, 10)))
  })
  return [...new Set(modules)].sort()
}

/** The module of which a function is, also where the build joined several in one file: there a comment names each. */
function moduleAt(url: string, offset: number): string {
  const path = url.slice(DIST.length)
  if (!path.endsWith('shared.js')) return path.replace(/\.js$/, '')
  const names = [
    ...readFileSync(new URL(url), 'utf8')
      .slice(0, offset)
      .matchAll(/^\/\/ (\S+)\.js$/gm),
  ]
  const name = names.at(-1)?.[1]
  if (name === undefined) throw new Error(`nothing says of which module the function at ${offset} of ${path} is`)
  return name
}

/** Runs `node` and reads what V8 counted. */
async function callsIn(args: readonly string[]): Promise<Run> {
  const coverage = mkdtempSync(join(folder, 'coverage-'))
  const env = { PATH: process.env.PATH, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, NODE_V8_COVERAGE: coverage }
  const child = spawn(process.execPath, args, { cwd: PACKAGE, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [status] = await once(child, 'close')
  const calls = new Map<string, Calls>()
  for (const name of readdirSync(coverage)) {
    for (const { url, functions } of JSON.parse(readFileSync(join(coverage, name), 'utf8')).result as readonly Script[]) {
      // The first function is the module itself.
      if (url.startsWith(DIST)) calls.set(url, new Map(functions.slice(1).map(({ ranges: [whole] }) => [placeOf(whole), whole.count])))
    }
  }
  return { status, output, calls }
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

interface Script {
  readonly url: string
  readonly functions: readonly { readonly ranges: readonly [Range, ...Range[]] }[]
}

function placeOf({ startOffset, endOffset }: Range): string {
  return `${startOffset}-${endOffset}`
}

function listOf({ title, goal, beyond }: Trace, modules: readonly string[]): string {
  const counted = modules.filter((module) => !beyond?.modules.test(module))
  const note = beyond && counted.length < modules.length ? `, and ${beyond.note}` : ''
  const folders = new Map<string, string[]>()
  for (const module of counted) {
    const end = module.lastIndexOf('/') + 1
    const key = module.slice(0, end)
    folders.set(key, [...(folders.get(key) ?? []), module.slice(end)])
  }
  const verdict = counted.length > goal ? `goal ${goal}, missed by ${counted.length - goal}` : `goal ${goal}`
  const lines = [...folders].map(([key, names]) => `- \`src/${key}\`: ${names.join(', ')}`)
  return `${title}: ${counted.length} modules (${verdict})${note}\n\n${lines.join('\n')}\n`
}
