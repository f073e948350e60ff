import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { root } from '../architecture/files.ts'

/** The modules of providers that a bundler writes out for a page. */
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
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs: used }) => Object.entries(used))
  return inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 && path.startsWith('dist/providers/') ? [path] : []))
}

it.each([
  ['planetaryComputer()', 'planetaryComputer', 'planetary-computer'],
  ["ecmwfCds({ apiKey: 'k' })", 'ecmwfCds', 'ecmwf'],
  ["earthdata({ token: 't' })", 'earthdata', 'earthdata'],
  ["copernicus({ username: 'u', password: 'p' })", 'copernicus', 'copernicus'],
])('a page with %s carries that provider and no other one', async (call, name, file) => {
  const program = `import { createAuth } from 'stac-auth'; import { ${name} } from 'stac-auth/providers'
    globalThis.auth = createAuth({ credentials: ${call} })`
  expect([...(await carried(program))].sort()).toEqual(
    [`dist/providers/${file}.js`, 'dist/providers/facts.js', 'dist/providers/provider.js'].sort(),
  )
})

it('a page without a provider carries none', async () => {
  expect(await carried("import { createAuth } from 'stac-auth'; globalThis.auth = createAuth({ credentials: [] })")).toEqual([])
})
