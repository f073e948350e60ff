/** Fills docs/adapters.md: the table from versions, budgets and the examples that the tests run, the code from some of them. */
import { existsSync, readFileSync } from 'node:fs'
import { ADAPTER_BUDGETS } from '../sizes.ts'
import { type Files, fill, root, table } from './files.ts'

/** For which library, and what it is given; an adapter without words fails here. */
const ABOUT: { readonly [adapter: string]: readonly [library: string, gives: string] } = {
  axios: ['axios', 'an interceptor; the engine sends'],
  geotiff: ['geotiff', 'a client for `fromCustomClient`'],
  hyparquet: ['hyparquet', 'the argument for `asyncBufferFromUrl`, with the length'],
  maplibre: ['maplibre-gl', '`transformRequest` and a protocol'],
  'ol-stac': ['ol-stac', '`getSourceOptions` and `httpRequestFn` of its layer'],
  openlayers: ['ol', 'a loader for `GeoTIFF`, load functions for tiles and pictures'],
  requests: ['', 'URL, `fetch` and `peek` for a library without an adapter'],
  'service-worker': ['', 'a worker that authorizes pictures, films, fonts and tiles of a page'],
  'stac-browser': ['', '[documents, images, maps and downloads](../examples/stac-browser/README.md) of STAC Browser'],
  'stac-js': ['stac-js', 'its assets, alternates and links as targets'],
  'stac-react': ['@developmentseed/stac-react', 'a `QueryClient` whose requests the engine makes'],
  zarrita: ['zarrita', 'the arguments for `FetchStore`'],
}

/** With what those are tested that serve no package. */
const TESTED: { readonly [adapter: string]: string } = {
  requests: 'plain `fetch`',
  'service-worker': 'Chromium, Firefox',
  'stac-browser': 'STAC Browser 4.0.1',
}

const { devDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { devDependencies: Record<string, string> }

function rowOf(adapter: string, budget: number): readonly string[] {
  const about = ABOUT[adapter]
  if (!about) throw new Error(`say in ${import.meta.url} what the adapter ${adapter} gives`)
  const [library, words] = about
  const example = `examples/adapters/${adapter}.ts`
  const gives = existsSync(root + example) ? `[${words}](../${example})` : words
  return [`\`${adapter}\``, gives, library ? `${library} ${devDependencies[library]}` : (TESTED[adapter] ?? ''), `${budget / 1000} kB`]
}

/** Whole files, which tests run; the table links to the others. */
const SHOWN = ['requests', 'service-worker']
const rows = Object.entries(ADAPTER_BUDGETS).map(([adapter, budget]) => rowOf(adapter, budget))

export const files: Files = {
  'docs/adapters.md': fill({
    table: table(['`stac-auth/adapters/…`', 'gives', 'tested with', 'at most, min + gzip'], rows),
    ...Object.fromEntries(SHOWN.map((name) => [name, `\`\`\`ts\n${readFileSync(`${root}examples/adapters/${name}.ts`, 'utf8')}\`\`\`\n`])),
  }),
}
