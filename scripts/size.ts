/**
 * Measures what a browser loads at once for each entry that promises to be small, and holds it against a budget.
 *
 * `npm run size` prints the table and fails over budget; the package tests look into the same bundles.
 */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Budgets in bytes, minified and compressed with gzip. */
export const BUDGETS: readonly { readonly entry: string; readonly budget: number }[] = [
  { entry: 'dist/index.js', budget: 15_000 },
  { entry: 'dist/lint/index.js', budget: 23_000 },
  { entry: 'dist/crawl/index.js', budget: 14_100 },
  { entry: 'dist/browser/index.js', budget: 5_600 },
  // With the engine; in the translation client all operations, without sessions of voice and what few need.
  { entry: 'dist/clients/index.js', budget: 32_000 },
  { entry: 'dist/clients/translation/index.js', budget: 45_500 },
  { entry: 'dist/time-tracking/index.js', budget: 34_000 },
]

/** What each adapter may take, in bytes as above, without the library that it serves; the one for a validator never runs in a browser. */
export const ADAPTER_BUDGETS: Readonly<Record<string, number>> = {
  axios: 500,
  geotiff: 3_500,
  hyparquet: 3_500,
  maplibre: 3_500,
  'ol-stac': 5_000,
  openlayers: 3_500,
  'service-worker': 1_000,
  'stac-browser': 5_000,
  'stac-js': 1_500,
  'stac-react': 4_000,
  zarrita: 3_500,
}

/** What a bundler puts into the chunk of an entry for browsers; sizes in bytes after gzip. */
export interface Bundle {
  /** Loaded with the entry itself. */
  readonly eager: number
  readonly eagerModules: readonly string[]
  readonly eagerText: string
}

/**
 * Bundles a built entry for browsers into one chunk, what is imported on demand left out; fails when something in it has
 * no browser form.
 */
export async function bundle(entry: string, folder = root): Promise<Bundle> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: [entry],
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
  return { eager: gzipSync(eagerText, { level: 9 }).length, eagerModules: Object.keys(metafile.inputs), eagerText }
}

/** Chunks of their own: what `import()` loads. */
const onDemandApart: Plugin = {
  name: 'on-demand-apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /./ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined))
  },
}

/** Prints one line per entry. True when all are within their budgets. */
async function report(): Promise<boolean> {
  const adapters = Object.entries(ADAPTER_BUDGETS).map(([name, budget]) => ({ entry: `dist/adapters/${name}.js`, budget }))
  const rows = await Promise.all([...BUDGETS, ...adapters].map(async ({ entry, budget }) => ({ entry, budget, ...(await bundle(entry)) })))
  for (const { entry, budget, eager } of rows) {
    const verdict = eager > budget ? 'OVER' : 'ok'
    console.log(`${verdict.padEnd(5)}${entry.padEnd(36)}${kB(eager)} of ${kB(budget)} at once (min + gzip)`)
  }
  return rows.every(({ eager, budget }) => eager <= budget)
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await report()) ? 0 : 1
