/** What a bundler makes of built modules for browsers: the common ruler of sizes, budgets and the tests that look inside. */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build, type Plugin } from 'esbuild'

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
export function bundle(modules: string | readonly string[], folder = root): Promise<Bundle> {
  const isPath = typeof modules === 'string' && !isPackage(modules)
  return bundled(isPath ? { entryPoints: [modules] } : { stdin: { contents: together([modules].flat()), resolveDir: folder } }, folder)
}

/** Bundles a program that imports this package by its name, as one of its pages says, with modules that it has loaded in the end. */
export function bundleProgram(program: string, later: readonly string[] = []): Promise<Bundle> {
  return bundled({ stdin: { contents: `${program}\n${together(later)}`, resolveDir: root } }, root)
}

async function bundled(start: Pick<BuildOptions, 'entryPoints' | 'stdin'>, folder: string): Promise<Bundle> {
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
function together(modules: readonly string[]): string {
  return modules
    .map((module, index) => `export * as m${index} from ${JSON.stringify(isPackage(module) ? module : `./${module}`)}`)
    .join('\n')
}

/** Files of their own: what `import()` loads. */
export const onDemandApart: Plugin = {
  name: 'on-demand-apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /./ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined))
  },
}
