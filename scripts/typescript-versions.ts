/**
 * Resolves every entry of the packed package as compilers do, and compiles programs that use it with every TypeScript that is promised,
 * all declarations checked: `npm run test:typescript`, or `… -- 5.4 7.0` for some versions.
 *
 * The compilers are kept in a temporary folder for the run.
 */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { exportedNames } from '../test/package/exported-names.ts'
import { commandLine, refuseUnknown } from './command-line.ts'
import { installInto, packInto } from './package.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
/** Those that are promised. */
const VERSIONS = ['5.4', '5.6', '5.9', '6.0', '7.0']
const { positionals: named } = commandLine('npm run test:typescript -- [version ...]', {})
refuseUnknown('version', named, VERSIONS)
const versions = named.length > 0 ? named : VERSIONS

interface Project {
  readonly moduleResolution: 'Node16' | 'NodeNext' | 'Bundler'
  readonly lib: readonly string[]
  readonly types: readonly string[]
  /** The program, beside a module that exports all entries but these. */
  readonly program: string
  readonly without?: RegExp
}

const PAGE = ['ES2022', 'DOM', 'DOM.Iterable']
/** Checks how the entries of a package resolve; has a TypeScript of its own, so that it is not installed for each clone. */
const ATTW = '@arethetypeswrong/core@0.18.5'
/** What an ES module cannot satisfy: a resolution that knows no `exports`, and `require`, for which TypeScript wants an `import()`. */
const NOT_FOR_MODULES: readonly (readonly [kind: string, resolution: string])[] = [
  ['NoResolution', 'node10'],
  ['CJSResolvesToESM', 'node16-cjs'],
]
const DATA = /\.json$|^\.\/schemas\//
const PROJECTS: readonly Project[] = [
  {
    moduleResolution: 'Node16',
    lib: ['ES2022'],
    types: ['node'],
    program: 'consumers/node.ts',
    without: /^\.\/(?:browser|live|element|adapters\/openlayers)/,
  },
  { moduleResolution: 'NodeNext', lib: PAGE, types: ['node'], program: 'consumers/node.ts' },
  { moduleResolution: 'Bundler', lib: PAGE, types: [], program: 'browser/core.ts', without: /^\.\/node$/ },
]

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stac-auth-typescript-')))
try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const { tarball, files } = await packInto(folder)
  const { exports, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const compilers = versions.map((version) => `typescript-${version}@npm:typescript@${version}`)
  const described = ['@types/node', '@types/react', 'preact'].map((name) => `${name}@${devDependencies[name]}`)
  await installInto(folder, [tarball, ...described, ...compilers, ATTW])
  const names = exportedNames(exports, files).filter((name) => !DATA.test(name))
  report('all entries resolve', await misresolved(tarball, names))
  for (const version of versions) {
    const wrong = (await Promise.all(PROJECTS.map((project) => errorsOf(version, project, names)))).flat()
    report(`TypeScript ${version}`, wrong)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function report(name: string, wrong: readonly string[]): void {
  console.log(`${wrong.length > 0 ? 'FAILED' : 'ok    '} ${name}`)
  for (const line of wrong) console.log(`  ${line}`)
  if (wrong.length > 0) process.exitCode = 1
}

interface Problem {
  readonly kind: string
  readonly entrypoint?: string
  readonly resolutionKind?: string
}

/** The problems of all entries in all resolutions, but those that every ES module has. */
async function misresolved(tarball: string, names: readonly string[]): Promise<readonly string[]> {
  const attw = await import(pathToFileURL(join(folder, 'node_modules/@arethetypeswrong/core/dist/index.js')).href)
  const pack = attw.createPackageFromTarballData(new Uint8Array(readFileSync(tarball)))
  const { problems, entrypoints } = await attw.checkPackage(pack, { entrypoints: [...names] })
  const unchecked = names.filter((name) => !Object.hasOwn(entrypoints, name))
  if (unchecked.length > 0) throw new Error(`not checked: ${unchecked.join(', ')}`)
  return (problems as readonly Problem[])
    .filter((problem) => !NOT_FOR_MODULES.some(([kind, resolution]) => problem.kind === kind && problem.resolutionKind === resolution))
    .map((problem) => JSON.stringify(problem))
}

/** What the compiler has to say of a project. */
async function errorsOf(version: string, project: Project, names: readonly string[]): Promise<readonly string[]> {
  const { moduleResolution, lib, types, program, without } = project
  const place = join(folder, `${version}-${moduleResolution}`)
  const entries = names.filter((name) => !without?.test(name))
  if (entries.length < 20) throw new Error(`only ${entries.length} entries are imported`)
  mkdirSync(place)
  writeFileSync(
    join(place, 'all.ts'),
    entries.map((name, at) => `export * as part${at} from '${name.replace('.', 'stac-auth')}'\n`).join(''),
  )
  copyFileSync(join(root, 'test/types', program), join(place, 'program.ts'))
  const module = moduleResolution === 'Bundler' ? 'ESNext' : moduleResolution
  const compilerOptions = { target: 'ES2022', module, moduleResolution, lib, types, strict: true, skipLibCheck: false, noEmit: true }
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const compiler = join(folder, `node_modules/typescript-${version}/lib/tsc.js`)
  const failed = await run(process.execPath, [compiler, '-p', place, '--pretty', 'false'], { cwd: folder }).catch((error) => error)
  if (!(failed instanceof Error)) return []
  const { stdout, message } = failed as Error & { readonly stdout: string }
  return (stdout || message)
    .trim()
    .split('\n')
    .map((line) => `${moduleResolution}: ${line}`)
}
