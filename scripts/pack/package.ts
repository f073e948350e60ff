/** The package as it is published: few files, without what only this repository needs. */
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { joined } from './chunks.ts'
import { joinedDeclarations } from './declarations.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** How many files the package may have. */
export const MOST_FILES = 400
/** Made by the build as they are published. */
const COMPLETE = /^dist\/(?:browser\.bundle\.|rule-pages\.json$)/

export interface Packed {
  readonly tarball: string
  /** Paths in the package. */
  readonly files: readonly string[]
}

/** Packs what was built into a folder. */
export async function packInto(folder: string): Promise<Packed> {
  const staged = await mkdtemp(join(tmpdir(), 'stac-auth-pack-'))
  try {
    await stage(staged)
    const [{ filename, files }] = await npmPack(staged, '--pack-destination', folder)
    return { tarball: join(folder, filename), files: files.map(({ path }) => path) }
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
}

/** Installs tarballs and other packages into a folder that has a `package.json`. */
export async function installInto(folder: string, packages: readonly string[]): Promise<void> {
  await run('npm', ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...packages], { cwd: folder })
}

type Listing = readonly [{ readonly filename: string; readonly files: readonly { readonly path: string }[] }]

async function npmPack(cwd: string, ...options: readonly string[]): Promise<Listing> {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', ...options], { cwd, maxBuffer: 64 * 1024 * 1024 })
  return JSON.parse(stdout)
}

/** Writes the files of the package into a folder; returns the files that `import()` loads for a built module, all by paths with `dist`. */
export async function stage(folder: string): Promise<(module: string) => readonly string[]> {
  const [{ files }] = await npmPack(root, '--dry-run')
  const { scripts: _, devDependencies: _1, overrides: _2, ...manifest } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const copied = files.filter(({ path }) => !path.startsWith('dist/') || COMPLETE.test(path))
  for (const { path } of copied) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await copyFile(join(root, path), join(folder, path))
  }
  // npm shows manual pages after a global installation only where each is named.
  const man = copied.flatMap(({ path }) => (path.startsWith('man/') ? [`./${path}`] : []))
  await writeFile(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, man }, null, 2)}\n`)
  const entries = await entriesOf(manifest)
  const declarations = joinedDeclarations(entries.filter((path) => !/^(?:cli|platform)\//.test(path)))
  const scripts = await joined(entries, MOST_FILES - copied.length - declarations.length)
  for (const { path, text } of [...scripts, ...declarations]) {
    const file = join(folder, 'dist', path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  await chmod(join(folder, manifest.bin['stac-auth']), 0o755)
  return (module) => {
    const owners = scripts.flatMap(({ path, modules }) => (modules.includes(module) ? [`dist/${path}`] : []))
    if (owners.length === 0) throw new Error(`${module} is in no file of the package`)
    return owners
  }
}

/** The modules below `dist` that something outside the package loads. */
export async function entriesOf({
  exports,
  imports,
  bin,
}: Readonly<Record<'exports' | 'imports' | 'bin', object>>): Promise<readonly string[]> {
  const built = (await readdir(join(root, 'dist'), { recursive: true })).map((path) => `./dist/${path}`)
  const named = (targets: object): readonly string[] =>
    Object.values(targets).flatMap((target) => (target === null ? [] : typeof target === 'object' ? named(target) : [target]))
  const withdrawn = new Set(Object.entries(exports).flatMap(([name, target]) => (target === null ? [name.replace('.', './dist')] : [])))
  const files = named([exports, imports, bin]).flatMap((target) => {
    const [before = '', after] = target.split('*')
    return after === undefined ? [target] : built.filter((path) => path.startsWith(before) && path.endsWith(after))
  })
  const modules = files.filter((path) => /^\.\/dist\/.*\.js$/.test(path) && !COMPLETE.test(path.replace('./', '')))
  return [...new Set(modules)].filter((path) => !withdrawn.has(path.replace(/\.js$/, ''))).map((path) => path.replace('./dist/', ''))
}
