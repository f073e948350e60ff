import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { providers } from '../../src/providers/index.ts'
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
  ["earthdata({ token: 't' })", 'earthdata', 'earthdata'],
  ["copernicus({ username: 'u', password: 'p' })", 'copernicus', 'copernicus'],
])('a page with %s carries that provider and no other one', async (call, name, file) => {
  const program = `import { createAuth } from 'stac-auth'; import { ${name} } from 'stac-auth/providers'
    globalThis.auth = createAuth({ credentials: ${call} })`
  expect([...(await carried(program))].sort()).toEqual([`dist/providers/${file}.js`, 'dist/providers/provider.js'].sort())
})

it('a page without a provider carries none', async () => {
  expect(await carried("import { createAuth } from 'stac-auth'; globalThis.auth = createAuth({ credentials: [] })")).toEqual([])
})

it('a page carries only its provider from a package whose modules were joined into one file', async () => {
  const options = { bundle: true, format: 'esm', write: false, logLevel: 'silent', absWorkingDir: root } as const
  const joined = (await build({ ...options, entryPoints: ['dist/providers/index.js'], outfile: 'joined.js' })).outputFiles[0]?.text ?? ''
  for (const { id } of providers) {
    const name = id.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    const contents = `${joined}\nglobalThis.make = ${name}`.replace(/^export \{[\s\S]*?\};/m, '')
    const { outputFiles } = await build({ ...options, stdin: { contents }, treeShaking: true, minify: true })
    const page = outputFiles[0]?.text ?? ''
    expect(
      providers.filter((other) => page.includes(JSON.stringify(other.title))).map((other) => other.id),
      id,
    ).toEqual([id])
  }
})
