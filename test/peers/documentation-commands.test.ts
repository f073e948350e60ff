/**
 * Runs the commands of README.md and of the pages in docs/ as they are printed, page by page, each page in a folder with the documents that
 * it names, and the first code of pages for programs. Their hosts are a server on this machine that wants a token.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { projectFiles } from '../architecture/files.ts'
import { geotiff, pattern } from '../harness/geotiff.ts'
import { bearerGuard } from '../servers/guards.ts'
import { type ServedFile, startProtectedFiles } from '../servers/protected-files.ts'
import { type PageShell, pageShell } from './page-shell.ts'

/** Commands that cannot run here, each with the reason; the first that matches a command counts. */
const NOT_RUN: readonly (readonly [command: RegExp, reason: string])[] = [
  [/^npm (?:ci|run (?:pack|demo))|^npm install/, 'the two commands of a clone are run by CI, the package is installed by test/package'],
  [/ queue (?:work|show|failed)\b| --queue/, 'needs Redis: test/peers/redis-downloads.test.ts'],
  [/ login\b| logout\b/, 'asks a person: test/peers/login-chromium.test.ts'],
  [/^program=|git\.example|"\$program\//, 'needs this repository where it is published: test/peers/installing.test.ts'],
  [/--link enclosure|download s3:/, 'needs an object store: test/cli/download/links.test.ts'],
  [/--asset (?:zarr|Product)\b|(?:list|fetch|-d) s3:|-> a bucket/, 'needs an object store: test/peers/swift.test.ts'],
  [/^aws |aws configure/, 'needs the AWS command line'],
  [/\{vsi:B04\}.*|\bqgis\b|\bRscript\b|\bduckdb\b|\bjupyter\b/, 'needs a program that is not installed here'],
  [/ translate | time /, 'needs a key of the service: test/services'],
  [/nasa\.gov|planet\.com|blob\.core|copernicus|ACCOUNT/, 'needs an account with the provider'],
  [/browse\.py/, 'stands for a program of the reader'],
  [/STAC_AUTH_(?:TIME|TRANSLATION)_|_TOKEN=…|_KEY=…|_SECRET=…|HTTPS_PROXY|NO_PROXY|NODE_EXTRA/, 'sets a value of the reader'],
]

const TOKEN = 'a-token-of-the-documentation'
const item = (id: string, origin: string) => ({
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
  id,
  geometry: null,
  properties: { datetime: '2026-11-04T10:20:00Z', 'auth:schemes': { token: { type: 'http', scheme: 'bearer' } } },
  links: [],
  assets: Object.fromEntries(
    ['B04', 'B08', 'B04_10m', 'visual', 'thumbnail', 'data', 'table'].map((key) => [
      key,
      { href: `${origin}/${id}/${key}.tif`, type: 'image/tiff; application=geotiff', 'auth:refs': ['token'] },
    ]),
  ),
})
const catalogAt = (links: readonly (readonly [rel: string, href: string])[]) => ({
  type: 'Catalog',
  stac_version: '1.1.0',
  id: 'catalog',
  description: 'A catalog',
  links: links.map(([rel, href]) => ({ rel, href, type: 'application/json' })),
})

let server: Awaited<ReturnType<typeof startProtectedFiles>>
let pages: PageShell

beforeAll(async () => {
  pages = await pageShell()
  const files: Record<string, ServedFile> = {}
  server = await startProtectedFiles(files)
  const open = (value: unknown): ServedFile => ({ content: JSON.stringify(value), type: 'application/json' })
  for (const id of ['scene-1', 'scene-2']) {
    files[`/catalog/${id}.json`] = open(item(id, server.origin))
    for (const key of Object.keys(item(id, '').assets)) {
      files[`/${id}/${key}.tif`] = { content: geotiff(pattern(64, 64)), type: 'image/tiff', guard: bearerGuard((token) => token === TOKEN) }
    }
  }
  files['/catalog/'] = open(
    catalogAt([
      ['item', './scene-1.json'],
      ['item', './scene-2.json'],
    ]),
  )
  files['/catalog/search'] = open({
    type: 'FeatureCollection',
    features: ['scene-1', 'scene-2'].map((id) => item(id, server.origin)),
    links: [],
  })
  files['/item.json'] = open(item('scene-1', server.origin))
})
afterAll(async () => {
  await server.close()
  await pages.remove()
})

/** Each page starts with these documents and a credential for the server. */
function folderFor(page: string): Promise<string> {
  const scene = item('scene-1', server.origin)
  const lines = ['scene-1', 'scene-2'].map((id) => `${JSON.stringify(item(id, server.origin))}\n`)
  const files = {
    'item.json': scene,
    'result.json': scene,
    'catalog/item.json': scene,
    'my-catalog/item.json': scene,
    'items/item.json': scene,
    'catalog.json': catalogAt([['item', './items/item.json']]),
    'items.ndjson': lines.join(''),
    'lint.json': { rules: {} },
  }
  return pages.folder(page, files, [
    { id: 'token', type: 'http', scheme: 'bearer', token: { env: 'TOKEN' }, sendTo: [`${server.origin}/`] },
  ])
}

const ENV = { TOKEN, SHARDS: '2', AWS_BATCH_JOB_ARRAY_INDEX: '0' }

/** The commands of a page in their order. One that goes on in the next line is one with it. */
function commandsOf(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```(?:sh|bash)\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
  return blocks.flatMap((block) =>
    /\\\n|&&\n|<<|^#!/.test(block)
      ? [block.trim()]
      : block
          .trim()
          .split('\n')
          .filter((line) => !line.startsWith('#')),
  )
}

/** What a reader has done before, where the page does not say it in a command. */
const BEFORE: readonly (readonly [command: RegExp, script: string])[] = [
  [/--manifest run\.ndjson/, 'cp data/.stac-auth-manifest run.ndjson'],
  [/^stac-auth merge /, 'for n in 2 3; do stac-auth lint --crawl https://catalog.example/ --shard $n/3 --format ndjson=$n.ndjson; done'],
]

/** The hosts of the documentation are the server. */
const onThisMachine = (command: string) =>
  command
    .replaceAll(/https:\/\/(?:catalog|api)\.example\//g, `${server.origin}/catalog/`)
    .replaceAll('http://localhost:8080/', `${server.origin}/`)
    .replaceAll('/in/items.ndjson', 'items.ndjson')
    .replaceAll('/out/', './')

const printed = projectFiles()
  .filter(({ path }) => /^README\.md$|^docs\/.*\.md$/.test(path))
  .map(({ path, text }) => ({ path, commands: commandsOf(text) }))
  .filter(({ commands }) => commands.length > 0)
const reasonOf = (command: string) => NOT_RUN.find(([known]) => known.test(command))
const runnable = printed
  .map(({ path, commands }) => ({ path, commands: commands.filter((command) => !reasonOf(command)) }))
  .filter(({ commands }) => commands.length > 0)

it.concurrent.each(runnable)(
  'the commands of $path run as printed',
  async ({ path, commands }) => {
    const folder = await folderFor(path)
    const git = 'git init -q -b main . && git add item.json catalog && git -c user.name=a -c user.email=a@b.example commit -qm one'
    expect((await pages.run(git, folder)).text).toBe('')
    const failed: string[] = []
    for (const command of commands) {
      const before = BEFORE.flatMap(([known, script]) => (known.test(command) ? [script] : []))
      const { status, text } = await pages.run(onThisMachine([...before, command].join('\n')), folder, ENV)
      if (status !== 0) failed.push(`$ ${command}\n${text}(exit code ${status})`)
    }
    expect(failed).toEqual([])
  },
  180_000,
)

/** What each page's code prints. Names from outside of the code are those of `PRELUDE`. */
const CODE: readonly (readonly [page: string, block: number, prints: RegExp])[] = [
  ['docs/write-code.md', 0, /^200 image\/tiff\n$/],
  ['docs/write-code.md', 1, /^$/],
  ['docs/write-code.md', 2, /^NO_CREDENTIAL no credential for /],
  ['docs/errors.md', 0, /^NO_CREDENTIAL no credential for /],
  ['docs/download.md', 0, /^(?:\S+ \[ 'length' \]\n){7}$/],
  ['docs/gateway.md', 0, /^(?:\S+ http:\/\/127\.0\.0\.1:\d+\/\S+\n){7,}$/],
  ['docs/crawling.md', 0, /(?=[\s\S]*scene-1\.json )(?=[\s\S]*scene-2\.json )/],
  ['docs/pipelines.md', 0, /^(?:\/assets\/\S+ http:\/\/127\.0\.0\.1:\d+\/scene-1\/\S+\n){7}$/],
]
const PRELUDE = (origin: string) => `
import { readFileSync } from 'node:fs'
import { assetOf, createAuth } from 'stac-auth'
const item = JSON.parse(readFileSync('item.json', 'utf8'))
const auth = createAuth({ credentials: [], typed: ['${origin}'] })
Object.assign(globalThis, { item, auth, target: assetOf(item, 'B04'), token: process.env.TOKEN, url: '${origin}/item.json' })
`

it.each(CODE)('the code of %s (%i) runs as printed', async (path, block, prints) => {
  const folder = await folderFor(`${path}-${block}`)
  const [page] = projectFiles().filter((file) => file.path === path)
  const blocks = [...(page?.text ?? '').matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, source = '']) => source)
  const code = (blocks[block] ?? '').replaceAll('https://data.example/', `${server.origin}/`)
  const files = `cat > prelude.mjs <<'END'\n${PRELUDE(server.origin)}END\ncat > page.mjs <<'END'\nimport './prelude.mjs'\n${onThisMachine(code)}END\n`
  const { status, text } = await pages.run(`${files}node page.mjs`, folder, ENV)
  expect(text).toMatch(prints)
  expect(status).toBe(0)
})

it('each reason for a command that is not run is needed', () => {
  const reasons = printed.flatMap(({ commands }) => commands).map(reasonOf)
  expect(NOT_RUN.filter((one) => !reasons.includes(one)).map(([known]) => String(known))).toEqual([])
  console.log(`${reasons.filter((reason) => !reason).length} commands are run, ${reasons.filter(Boolean).length} are not`)
})
