import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { builtByVite, gzipped } from '../../scripts/vite-page.ts'
import { root } from '../architecture/files.ts'

/** A page as a bundler cuts it: the modules that it loads at once, and those that it may load at any time. */
async function loaded(program: string): Promise<{ readonly atOnce: readonly string[]; readonly ever: readonly string[] }> {
  const { metafile } = await build({
    stdin: { contents: program, resolveDir: root },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    outdir: 'out',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  const from = (kinds: readonly string[]) => {
    const files = new Set(Object.keys(metafile.outputs).filter((path) => path.endsWith('/stdin.js')))
    for (const path of files)
      for (const found of metafile.outputs[path]?.imports ?? []) if (kinds.includes(found.kind)) files.add(found.path)
    return [...files].flatMap((path) => {
      const { inputs } = metafile.outputs[path] ?? {}
      return Object.entries(inputs ?? {}).flatMap(([module, { bytesInOutput }]) => (bytesInOutput > 0 ? [module] : []))
    })
  }
  return { atOnce: from(['import-statement']), ever: from(['import-statement', 'dynamic-import']) }
}

const withStrategy = (name: string) => `
  import { assetOf, createEngine } from 'stac-auth'
  import { ${name} } from 'stac-auth/strategies'
  const auth = createEngine({ credentials: [], strategies: [${name}] })
  globalThis.answer = auth.fetch(assetOf(globalThis.item, 'data'))`

/** What belongs to each strategy alone. */
const OWN: Readonly<Record<string, RegExp>> = {
  apiKey: /strategies\/api-key/,
  http: /strategies\/http\/(?!bearer)/,
  oauth2: /strategies\/oauth2\/(?:oauth2|implicit)\.js/,
  openIdConnect: /strategies\/open-id-connect/,
  logins: /openid-client|oauth4webapi|strategies\/oauth2\//,
  signedUrl: /strategies\/signed-url/,
  s3: /strategies\/s3/,
  linter: /dist\/lint\//,
}

const partsOf = (modules: readonly string[]) => Object.keys(OWN).filter((part) => modules.some((path) => OWN[part]?.test(path)))

describe.each([
  ['apiKey', ['apiKey']],
  ['http', ['http']],
  ['signedUrl', ['signedUrl']],
  ['s3', ['s3']],
  ['openIdConnect', ['openIdConnect', 'oauth2', 'logins']],
] as const)('a page with the strategy %s alone', (name, own) => {
  it('loads it when it is needed, and never another', async () => {
    const { atOnce, ever } = await loaded(withStrategy(name))
    expect(partsOf(atOnce)).toEqual([])
    expect(ever).toContain('dist/auth/engine.js')
    expect(partsOf(ever)).toContain(name)
    expect(partsOf(ever).filter((part) => !(own as readonly string[]).includes(part))).toEqual([])
  })
})

it('a page with all strategies may load them all, which the check notices, and none at once', async () => {
  const { atOnce, ever } = await loaded("import { createAuth } from 'stac-auth'; globalThis.auth = createAuth({ credentials: [] })")
  expect(partsOf(atOnce)).toEqual([])
  expect(partsOf(ever)).toEqual(Object.keys(OWN).filter((part) => part !== 'linter'))
})

it('a page that lints carries no engine', async () => {
  const { ever } = await loaded("import { lintOnDemand } from 'stac-auth/lint'; globalThis.found = lintOnDemand(globalThis.item)")
  expect(ever).toContain('dist/lint/lint.js')
  expect(ever.filter((path) => /dist\/(?:auth|strategies)\/|node_modules/.test(path))).toEqual([])
})

/** An entry point of many names costs a page what it uses of it: within 1 kB as if the module of the name were the entry point. */
describe.each([
  ['lint', 'stac-auth/lint', 'lint/lint'],
  ['lintOnDemand', 'stac-auth/lint', 'lint/on-demand'],
  ['createLogins', 'stac-auth/browser', 'browser/logins'],
  ['createEngine', 'stac-auth', 'auth/create-engine'],
  ['curl', 'stac-auth/outputs', 'outputs/curl'],
])('a page with %s of %s', (name, entry, module) => {
  it('carries no more than its module', async () => {
    const page = (from: string) => `import { ${name} } from '${from}'; globalThis.used = ${name}(globalThis.item, globalThis.options)`
    const [own, alone] = await Promise.all([builtByVite(page(entry)), builtByVite(page(`./node_modules/stac-auth/dist/${module}.js`))])
    expect(gzipped(own) - gzipped(alone)).toBeLessThan(1000)
  })
})
