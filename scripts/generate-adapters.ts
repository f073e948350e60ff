/** Fills docs/adapters.md: the table from versions and budgets, the code from the examples that the tests run. */
import { readFileSync } from 'node:fs'
import { checkOnly, emit } from './emit.ts'
import { ADAPTER_BUDGETS } from './size.ts'

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
  'stac-browser': ['', 'documents, images, maps and downloads of STAC Browser'],
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

const root = new URL('../', import.meta.url)
const { devDependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { devDependencies: Record<string, string> }

const page = new URL('docs/adapters.md', root)
const table = tableOf()
const filled = readFileSync(page, 'utf8').replace(
  /(<!-- generated: ([\w-]+) -->\n)[\s\S]*?(<!-- end -->)/g,
  (_all, open: string, name: string, close: string) => `${open}${name === 'table' ? table : example(name)}${close}`,
)
emit(page, filled, checkOnly())

function tableOf(): string {
  const rows = Object.entries(ADAPTER_BUDGETS).map(([adapter, budget]) => rowOf(adapter, budget))
  return ['| `stac-auth/adapters/…` | gives | tested with | at most, min + gzip |', '| --- | --- | --- | --- |', ...rows, ''].join('\n')
}

function rowOf(adapter: string, budget: number): string {
  const about = ABOUT[adapter]
  if (!about) throw new Error(`say in ${import.meta.url} what the adapter ${adapter} gives`)
  const [library, gives] = about
  return `| \`${adapter}\` | ${gives} | ${library ? `${library} ${devDependencies[library]}` : TESTED[adapter]} | ${budget / 1000} kB |`
}

/** The whole file, which a test runs. */
function example(adapter: string): string {
  return `\`\`\`ts\n${readFileSync(new URL(`examples/adapters/${adapter}.ts`, root), 'utf8')}\`\`\`\n`
}
