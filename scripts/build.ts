/** Compiles `src` into `dist`. A failed build leaves the old output alone; a finished one leaves nothing stale behind. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = `${root}dist`
// Beside the old output, so that the swap is a rename; a name of its own, so that two builds do not meet.
const fresh = mkdtempSync(`${root}node_modules/.build-`)
const bin = `${fresh}/cli/bin.js`

/**
 * What strategies share, joined into one file each. Bundlers make a script of every set of modules that the same lazy parts load, so that
 * a page would load a dozen small ones for one request. Nothing in here is loaded by the core itself.
 */
const SHARED: Readonly<Record<string, readonly string[]>> = {}

const compiler = `${root}node_modules/typescript-7/bin/tsc`
const compiled = spawnSync(process.execPath, [compiler, '-p', `${root}tsconfig.build.json`, '--outDir', fresh], { stdio: ['ignore', 2, 2] })
if (compiled.status === 0) {
  forOlderCompilers()
  await joinRules(`${fresh}/lint/rules`)
  joinRulePages()
  for (const [file, modules] of Object.entries(SHARED)) await joinShared(file, modules)
  await bundleForPages()
  chmodSync(fresh, 0o755)
  if (existsSync(bin)) chmodSync(bin, 0o755)
  rmSync(dist, { recursive: true, force: true })
  renameSync(fresh, dist)
} else {
  rmSync(fresh, { recursive: true, force: true })
  process.exitCode = compiled.status ?? 1
}

/** Writes generic byte arrays so that TypeScript before 5.7, which knows no such generic, reads them as well. */
function forOlderCompilers(): void {
  for (const name of readdirSync(fresh, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.d.ts'))) {
    const text = readFileSync(`${fresh}/${name}`, 'utf8')
    const readable = text.replaceAll('Uint8Array<ArrayBuffer>', "ReturnType<Uint8ArrayConstructor['of']>")
    if (readable !== text) writeFileSync(`${fresh}/${name}`, readable)
  }
}

/** Makes one file of all rules, and one of what their pages say: Node opens the modules of a graph all at once, and descriptors are few. */
async function joinRules(folder: string): Promise<void> {
  await build({
    entryPoints: ['index.js', 'pages.js'],
    absWorkingDir: folder,
    outdir: folder,
    allowOverwrite: true,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
    plugins: [{ name: 'rules-only', setup: ({ onResolve }) => onResolve({ filter: /^\.\.\// }, ({ path }) => ({ path, external: true })) }],
  })
}

/** Writes the pages of all rules, which `stac-auth rules` shows, into one file: the package may not have many. */
function joinRulePages(): void {
  const folder = `${root}docs/rules`
  const pages = readdirSync(folder).map((name) => [name.replace(/\.md$/, ''), readFileSync(join(folder, name), 'utf8')] as const)
  writeFileSync(`${fresh}/rule-pages.json`, JSON.stringify(Object.fromEntries(pages)))
}

/** The modules as one file; in their own places stays what leads to it. */
async function joinShared(file: string, modules: readonly string[]): Promise<void> {
  const members = new Set(modules.map((module) => `${fresh}/${module}`))
  const target = `${fresh}/${file}`
  const pathTo = (to: string, from: string) => relative(dirname(from), to).replace(/^(?!\.)/, './')
  const membersOnly: Plugin = {
    name: 'members-only',
    setup: ({ onResolve }) =>
      onResolve({ filter: /^[.#]/ }, ({ path, resolveDir, kind }) => {
        if (path.startsWith('#')) return { path, external: true }
        const found = join(resolveDir, path)
        if (kind === 'entry-point' || (kind === 'import-statement' && members.has(found))) return { path: found }
        return { path: pathTo(found, target), external: true }
      }),
  }
  const options = {
    absWorkingDir: fresh,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
    packages: 'external',
    write: false,
  } as const
  const contents = modules.map((module) => `export * from '${pathTo(`${fresh}/${module}`, target)}'`).join('\n')
  const joined = await build({ ...options, stdin: { contents, resolveDir: dirname(target), sourcefile: file }, plugins: [membersOnly] })
  const exported = await Promise.all([...members].map(async (path) => ({ path, names: await exportsOf(path) })))
  const names = exported.flatMap((one) => one.names)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new Error(`two of the modules in ${file} export "${twice}"`)
  writeFileSync(target, joined.outputFiles[0]?.contents ?? '')
  for (const { path, names: exportedNames } of exported)
    writeFileSync(path, `export { ${exportedNames.join(', ')} } from '${pathTo(target, path)}'\n`)
}

async function exportsOf(path: string): Promise<readonly string[]> {
  const { metafile } = await build({ entryPoints: [path], format: 'esm', write: false, metafile: true, outdir: dirname(path) })
  return Object.values(metafile.outputs).flatMap((output) => output.exports)
}

/**
 * One file for pages without a bundler, of `stac-auth`, `/browser`, `/live` and `/element` with all that they load, and beside it the hash that
 * such a page states in `integrity`.
 */
async function bundleForPages(): Promise<void> {
  const modules = ['index.js', 'browser/index.js', 'browser/live-auth.js', 'element/index.js']
  const contents = modules.map((module) => `export * from './${module}'\n`).join('')
  const target = `${fresh}/browser.bundle.js`
  // The field `imports` leads to the finished output, which is an older one.
  const platform: Plugin = {
    name: 'platform',
    setup: ({ onResolve }) => onResolve({ filter: /^#platform$/ }, () => ({ path: `${fresh}/platform/web.js` })),
  }
  await build({
    stdin: { contents, resolveDir: fresh, sourcefile: 'entry.js' },
    outfile: target,
    bundle: true,
    minify: true,
    sourcemap: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'warning',
    plugins: [platform],
  })
  const hash = createHash('sha384').update(readFileSync(target)).digest('base64')
  writeFileSync(`${fresh}/browser.bundle.json`, `${JSON.stringify({ file: 'browser.bundle.js', integrity: `sha384-${hash}` }, null, 2)}\n`)
  writeFileSync(`${fresh}/browser.bundle.d.ts`, contents)
}
