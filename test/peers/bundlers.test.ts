/** Four bundlers build pages of the package as it is installed, without its optional packages: none of them has anything to warn of. */
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build as esbuild } from 'esbuild'
import { createLogger, build as vite } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installInto, packInto } from '../../scripts/package.ts'
import { exportedNames } from '../package/exported-names.ts'

const BUNDLERS = ['webpack@5.112.2', 'rollup@4.68.7', '@rollup/plugin-node-resolve@16.0.3']

/** Entries that pages do not import: for Node, data, and the one that needs an optional package. */
const NOT_IN_PAGES =
  /^\.\/(?:node|schemas\/.*|conformance\/.*|package\.json|browser\.bundle\..*|strategies\/private-token|adapters\/stac-node-validator)$/
let folder = ''
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'bundlers-')))
  const { tarball, files } = await packInto(folder)
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module", "sideEffects": true }')
  await installInto(folder, [tarball, ...BUNDLERS])
  const { exports } = JSON.parse(await readFile(join(folder, 'node_modules/stac-auth/package.json'), 'utf8'))
  const names = exportedNames(exports, files).filter((name) => !NOT_IN_PAGES.test(name))
  expect(names).toEqual(expect.arrayContaining(['.', './element', './browser', './adapters/service-worker', './adapters/axios']))
  const imports = names.map((name, index) => `import * as part${index} from '${name.replace('.', 'stac-auth')}'\n`)
  await writeFile(join(folder, 'page.js'), `${imports.join('')}globalThis.used = [${names.map((_name, index) => `part${index}`)}]\n`)
  await writeFile(join(folder, 'lacking.js'), "globalThis.used = import('@cloudflare/privacypass-ts')\n")
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const installed = (name: string) => createRequire(join(folder, 'page.js'))(name)

/** Returns the warnings and errors of a build. */
type Build = (entry: string) => Promise<readonly string[]>

const BUILDS: Readonly<Record<string, Build>> = {
  async esbuild(entry) {
    const options = { bundle: true, splitting: true, format: 'esm', platform: 'browser', outdir: 'out', write: false } as const
    const result = await esbuild({ ...options, entryPoints: [entry], absWorkingDir: folder, logLevel: 'silent' }).catch((error) => error)
    return [...result.warnings, ...result.errors].map(({ text }: { text: string }) => text)
  },
  async Vite(entry) {
    const told: string[] = []
    const customLogger = createLogger('silent', {})
    for (const level of ['warn', 'warnOnce', 'error'] as const) customLogger[level] = (message: string) => told.push(message)
    const options = { write: false, chunkSizeWarningLimit: Number.POSITIVE_INFINITY, rolldownOptions: { input: join(folder, entry) } }
    await vite({ root: folder, configFile: false, customLogger, logLevel: 'silent', build: options }).catch((error) =>
      told.push(String(error)),
    )
    return told
  },
  async Rollup(entry) {
    const { rollup } = installed('rollup')
    const { nodeResolve } = installed('@rollup/plugin-node-resolve')
    const told: string[] = []
    const onLog = (level: string, { message }: { message: string }) => level === 'warn' && told.push(message)
    try {
      const bundle = await rollup({ input: join(folder, entry), plugins: [nodeResolve({ browser: true })], onLog })
      await bundle.generate({ format: 'es', dir: 'out' })
      await bundle.close()
    } catch (error) {
      told.push(String(error))
    }
    return told
  },
  async 'webpack 5'(entry) {
    const webpack = installed('webpack')
    // Everything at once is larger than what webpack finds reasonable for a page. Shorter names would take most of the time of a build, and
    // are another program's work.
    const compiler = webpack({
      mode: 'production',
      context: folder,
      entry: `./${entry}`,
      performance: false,
      optimization: { minimize: false },
      output: { path: join(folder, 'out') },
    })
    const stats = await promisify(compiler.run.bind(compiler))()
    await promisify(compiler.close.bind(compiler))()
    const { warnings, errors } = stats.toJson({ all: false, warnings: true, errors: true })
    return [...warnings, ...errors].map(({ message }: { message: string }) => message)
  },
}

describe('programs on servers, where no optional package is installed', () => {
  beforeAll(() => writeFile(join(folder, 'server.js'), "export * as node from 'stac-auth/node'\nexport * from 'stac-auth'\n"))

  it('are built by esbuild without a warning', async () => {
    const options = { bundle: true, splitting: true, format: 'esm', platform: 'node', outdir: 'out', write: false } as const
    const { warnings, errors } = await esbuild({ ...options, entryPoints: ['server.js'], absWorkingDir: folder, logLevel: 'silent' })
    expect([...warnings, ...errors]).toEqual([])
  })

  it('are built by webpack 5, which only warns that packages are missing, never that it cannot tell which', async () => {
    const webpack = installed('webpack')
    const output = { path: join(folder, 'out') }
    const compiler = webpack({ mode: 'development', target: 'node', context: folder, entry: './server.js', output })
    const stats = await promisify(compiler.run.bind(compiler))()
    await promisify(compiler.close.bind(compiler))()
    const { warnings, errors } = stats.toJson({ all: false, warnings: true, errors: true })
    expect(errors).toEqual([])
    expect(warnings.map(({ message }: { message: string }) => message.split('\n', 1)[0])).toEqual(
      warnings.map(() =>
        expect.stringMatching(/^Module not found: Error: Can't resolve '(?:@aws-sdk|@cloudflare|@msgpack|bullmq|fflate|ioredis|hyparquet)/),
      ),
    )
  })
})

describe.each(Object.entries(BUILDS))('%s', (_name, build) => {
  it('builds a page that imports every entry for pages without a warning or an optional package', async () => {
    expect(existsSync(join(folder, 'node_modules/@cloudflare'))).toBe(false)
    expect(await build('page.js')).toEqual([])
  })

  it('says that a package is missing, which the check notices', async () => {
    expect((await build('lacking.js')).join('\n')).toContain('@cloudflare/privacypass-ts')
  })
})
