/** What a bundler makes of built modules for browsers: the common ruler of sizes, budgets and the tests that look inside. */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** One file for browsers; sizes in bytes after gzip. */
export interface Bundle {
  /** Loaded with the entry itself. */
  readonly eager: number
  readonly eagerModules: readonly string[]
  readonly eagerText: string
}

/**
 * Bundles modules for browsers into one file, what is imported on demand left out; fails when something in it has no browser form.
 *
 * @param modules a path, as a page would begin; several paths, or names of packages, for what a page has loaded in the end
 */
export async function bundle(modules: string | readonly string[], folder = root): Promise<Bundle> {
  const start = typeof modules === 'string' && !isPackage(modules) ? { entryPoints: [modules] } : together([modules].flat(), folder)
  const { metafile, outputFiles } = await build({
    ...start,
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    outfile: 'bundle.js',
    write: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [onDemandApart],
  })
  const eagerText = outputFiles.map(({ text }) => text).join('')
  const eagerModules = Object.keys(metafile.inputs).filter((path) => path !== '<stdin>')
  return { eager: gzipSync(eagerText, { level: 9 }).length, eagerModules, eagerText }
}

function isPackage(module: string): boolean {
  return !/\.m?js$/.test(module)
}

/** All that the modules export is kept, under names that do not meet. */
function together(modules: readonly string[], resolveDir: string) {
  const lines = modules.map((module, index) => `export * as m${index} from ${JSON.stringify(isPackage(module) ? module : `./${module}`)}`)
  return { stdin: { contents: lines.join('\n'), resolveDir } }
}

/** Files of their own: what `import()` loads. */
export const onDemandApart: Plugin = {
  name: 'on-demand-apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /./ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined))
  },
}
