import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { root } from '../architecture/files.ts'

/** The modules in everything that a bundler writes out for a page, also what is loaded later, or never. */
async function carried(program: string): Promise<readonly string[]> {
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
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
  )
}

const withStrategy = (name: string, file: string) => `
  import { assetOf, createEngine } from 'stac-auth/engine'
  import { ${name} } from 'stac-auth/strategies/${file}'
  const auth = createEngine({ credentials: [], strategies: [${name}] })
  globalThis.answer = auth.fetch(assetOf(globalThis.item, 'data'))`

/** What belongs to each strategy alone. */
const OWN: Readonly<Record<string, RegExp>> = {
  apiKey: /strategies\/api-key/,
  http: /strategies\/http(?!\/(?:bearer|access-token)\.js)/,
  oauth2: /strategies\/oauth2\.js|strategies\/oauth2\/implicit/,
  openIdConnect: /strategies\/open-id-connect/,
  logins: /openid-client|oauth4webapi|strategies\/oauth2\//,
  signedUrl: /strategies\/signed-url/,
  s3: /strategies\/s3/,
  linter: /dist\/lint\//,
  list: /strategies\/index\.js/,
}

describe.each([
  ['apiKey', 'api-key', ['apiKey']],
  ['http', 'http', ['http']],
  ['signedUrl', 'signed-url', ['signedUrl']],
  ['s3', 's3', ['s3']],
  ['openIdConnect', 'open-id-connect', ['openIdConnect', 'oauth2', 'logins']],
] as const)('a page with the strategy %s alone', (name, file, own) => {
  it('carries it, and no other', async () => {
    const modules = await carried(withStrategy(name, file))
    expect(modules).toContain('dist/auth/engine.js')
    const found = Object.keys(OWN).filter((part) => modules.some((path) => OWN[part]?.test(path)))
    expect(found).toContain(name)
    expect(found.filter((part) => !(own as readonly string[]).includes(part))).toEqual([])
  })
})

it('a page with all strategies carries them all, which the check notices', async () => {
  const modules = await carried("import { createAuth } from 'stac-auth'; globalThis.auth = createAuth({ credentials: [] })")
  const found = Object.keys(OWN).filter((part) => modules.some((path) => OWN[part]?.test(path)))
  expect(found).toEqual(Object.keys(OWN).filter((part) => part !== 'linter'))
})

it('a page that lints carries no engine', async () => {
  const modules = await carried("import { lint } from 'stac-auth/lint/on-demand'; globalThis.found = lint(globalThis.item)")
  expect(modules).toContain('dist/lint/lint.js')
  expect(modules.filter((path) => /dist\/(?:auth|strategies)\/|node_modules/.test(path))).toEqual([])
})
