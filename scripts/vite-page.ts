/** What Vite with its defaults makes of a page that uses the package: the scripts, and which of them a page loads. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Rollup } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The program of a page that makes one authorized request with one strategy. */
export const ONE_STRATEGY = `
  import { assetOf, createEngine } from 'stac-auth'
  import { apiKey } from 'stac-auth/strategies'
  const auth = createEngine({ credentials: [], strategies: [apiKey] })
  globalThis.answer = auth.fetch(assetOf(globalThis.item, 'data'))`

/** The program of a page that lints. */
export const LINT = `
  import { lintOnDemand } from 'stac-auth/lint'
  globalThis.found = lintOnDemand(globalThis.item)`

/** The program of a page that makes one authorized request. */
export const ONE_FETCH = `
  import { assetOf, createAuth } from 'stac-auth'
  globalThis.answer = createAuth({ credentials: globalThis.credentials ?? [] }).fetch(assetOf(globalThis.item, 'data'))`

/** Builds a program in an empty folder of its own, in which the package is installed, as it is built or elsewhere: everything that is written out. */
export async function builtByVite(program: string, installed = root): Promise<readonly Rollup.OutputChunk[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'stac-auth-vite-')))
  try {
    await mkdir(join(folder, 'node_modules'))
    await symlink(installed, join(folder, 'node_modules/stac-auth'))
    await writeFile(join(folder, 'main.js'), program)
    const output = await build({
      root: folder,
      configFile: false,
      logLevel: 'error',
      build: {
        write: false,
        target: 'es2022',
        rolldownOptions: { input: join(folder, 'main.js') },
      },
    })
    if (Array.isArray(output) || !('output' in output)) throw new Error('Vite gave no single output')
    return output.output.filter((file) => file.type === 'chunk')
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The scripts that a page has loaded once `import()` has brought these modules: its own, those, and all that they import. */
export function scriptsFor(chunks: readonly Rollup.OutputChunk[], modules: readonly string[]): readonly Rollup.OutputChunk[] {
  const named = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const loaded = new Set<Rollup.OutputChunk>()
  const load = (chunk: Rollup.OutputChunk | undefined) => {
    if (!chunk || loaded.has(chunk)) return
    loaded.add(chunk)
    for (const name of chunk.imports) load(named.get(name))
  }
  load(chunks.find(({ isEntry }) => isEntry))
  for (const module of modules) {
    const of = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/${module}`))
    if (!of) throw new Error(`Vite makes no script of ${module}, so it is not loaded by import()`)
    load(of)
  }
  return [...loaded]
}

/** Bytes after gzip, each script by itself, as servers send them. */
export function gzipped(chunks: readonly Rollup.OutputChunk[]): number {
  return chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0)
}
