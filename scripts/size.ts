/**
 * Measures what a browser loads at once for each entry that promises to be small, and in the end for a login, and holds it against a
 * budget.
 *
 * `npm run size` prints the table and fails over budget; the package tests look into the same bundles.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { bundle } from './bundle.ts'
import { refuseArguments } from './command-line.ts'
import { OPEN_ID_LOGIN } from './sizes.ts'

/** Budgets in bytes, minified and compressed with gzip. */
export const BUDGETS: readonly { readonly entry: string; readonly budget: number }[] = [
  { entry: 'dist/index.js', budget: 15_000 },
  { entry: 'dist/engine.js', budget: 15_000 },
  { entry: 'dist/lint/index.js', budget: 33_000 },
  { entry: 'dist/lint/on-demand.js', budget: 2_500 },
  { entry: 'dist/crawl/index.js', budget: 17_500 },
  // One provider, and all of them with the recognizer.
  { entry: 'dist/providers/copernicus.js', budget: 3_500 },
  { entry: 'dist/providers/index.js', budget: 22_000 },
  { entry: 'dist/browser/index.js', budget: 6_500 },
  { entry: 'dist/browser/live-auth.js', budget: 18_000 },
  { entry: 'dist/element/index.js', budget: 12_000 },
  // With the engine; in the translation client all operations, without sessions of voice and what few need.
  { entry: 'dist/services/client/index.js', budget: 34_000 },
  { entry: 'dist/services/translation/index.js', budget: 49_000 },
  { entry: 'dist/services/time-tracking/index.js', budget: 36_000 },
]

/** For the core and everything that a login with OpenID Connect loads. */
export const OPEN_ID_LOGIN_BUDGET = 64_000

/** For the file for pages without a bundler, which contains everything. */
export const BUNDLE_BUDGET = 145_000

/** What each adapter may take, in bytes as above, without the library that it serves; the one for a validator never runs in a browser. */
export const ADAPTER_BUDGETS: Readonly<Record<string, number>> = {
  axios: 5_500,
  geotiff: 5_500,
  hyparquet: 5_500,
  maplibre: 6_000,
  'ol-stac': 7_000,
  openlayers: 6_000,
  requests: 5_500,
  'service-worker': 1_500,
  'stac-browser': 8_500,
  'stac-js': 2_000,
  'stac-react': 5_000,
  zarrita: 5_500,
}

/** Prints one line per entry. True when all are within their budgets. */
async function report(): Promise<boolean> {
  const adapters = Object.entries(ADAPTER_BUDGETS).map(([name, budget]) => ({ entry: `dist/adapters/${name}.js`, budget }))
  const rows = await Promise.all([...BUDGETS, ...adapters].map(async ({ entry, budget }) => ({ entry, budget, ...(await bundle(entry)) })))
  for (const { entry, budget, eager } of rows) {
    const verdict = eager > budget ? 'OVER' : 'ok'
    console.log(`${verdict.padEnd(5)}${entry.padEnd(36)}${kB(eager)} of ${kB(budget)} at once (min + gzip)`)
  }
  const login = await bundle(OPEN_ID_LOGIN)
  const isOver = login.eager > OPEN_ID_LOGIN_BUDGET
  console.log(
    `${(isOver ? 'OVER' : 'ok').padEnd(5)}${'core with OpenID Connect login'.padEnd(36)}${kB(login.eager)} of ${kB(OPEN_ID_LOGIN_BUDGET)} in the end`,
  )
  const whole = gzipSync(readFileSync(fileURLToPath(new URL('../dist/browser.bundle.js', import.meta.url))), { level: 9 }).length
  const isLarge = whole > BUNDLE_BUDGET
  console.log(`${(isLarge ? 'OVER' : 'ok').padEnd(5)}${'dist/browser.bundle.js'.padEnd(36)}${kB(whole)} of ${kB(BUNDLE_BUDGET)} (gzip)`)
  const fits = !isOver && !isLarge && rows.every(({ eager, budget }) => eager <= budget)
  if (!fits) console.log('make it smaller or load it on demand; budgets are in scripts/size.ts, and a higher one needs a reason')
  return fits
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  refuseArguments('npm run size')
  process.exitCode = (await report()) ? 0 : 1
}
