/**
 * Compiles `src` into `dist`, after the modules of `src` that are generated, and writes the manual pages. A failed build leaves the old output
 * alone; a finished one leaves nothing stale behind. With `--unless-built` it builds only where there is no `dist`: npm runs that in a new
 * clone, and in the one that it makes of a git URL.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { commandLine } from './command-line.ts'
import { generateCode } from './generated-code.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = `${root}dist`
const { values } = commandLine('npm run build [-- --unless-built]', { 'unless-built': { type: 'boolean' } })
if (values['unless-built'] && existsSync(dist)) process.exit()

// Beside the old output, so that the swap is a rename; a name of its own, so that two builds do not meet.
const fresh = mkdtempSync(`${root}node_modules/.build-`)

await generateCode()
const compiler = `${root}node_modules/typescript-7/bin/tsc`
const compiled = spawnSync(process.execPath, [compiler, '-p', `${root}tsconfig.build.json`, '--outDir', fresh], { stdio: ['ignore', 2, 2] })
if (compiled.status === 0) {
  rewrite('.d.ts', forOlderCompilers)
  rewrite('.map', fromFinalPlace)
  await bundleForPages()
  chmodSync(fresh, 0o755)
  chmodSync(`${fresh}/cli/bin.js`, 0o755)
  rmSync(dist, { recursive: true, force: true })
  renameSync(fresh, dist)
  // From the help of the program that was just built.
  await import('./man.ts')
} else {
  rmSync(fresh, { recursive: true, force: true })
  process.exitCode = compiled.status ?? 1
}

function rewrite(ending: string, change: (text: string) => string): void {
  for (const name of readdirSync(fresh, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith(ending))) {
    const text = readFileSync(`${fresh}/${name}`, 'utf8')
    const changed = change(text)
    if (changed !== text) writeFileSync(`${fresh}/${name}`, changed)
  }
}

/** Writes generic byte arrays so that TypeScript before 5.7, which knows no such generic, reads them as well. */
function forOlderCompilers(declarations: string): string {
  return declarations.replaceAll('Uint8Array<ArrayBuffer>', "ReturnType<Uint8ArrayConstructor['of']>")
}

/** `dist` is one folder less deep than where the compiler wrote. */
function fromFinalPlace(map: string): string {
  return map.replace('"sources":["../', '"sources":["')
}

/**
 * One file for pages without a bundler, of `stac-auth`, `/browser` and `/element` with all that they load, and beside it the hash that
 * such a page states in `integrity`.
 */
async function bundleForPages(): Promise<void> {
  const modules = ['index.js', 'browser/index.js', 'element/index.js']
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
