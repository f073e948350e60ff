import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle } from '../../scripts/bundle.ts'
import { graph, type Module, reached } from '../../scripts/pack/chunks.ts'
import { entriesOf, installInto, MOST_FILES, packInto } from '../../scripts/pack/package.ts'
import { ADAPTER_BUDGETS, BUDGETS } from '../../scripts/size.ts'
import { builtByVite, gzipped, LINT, ONE_FETCH, ONE_STRATEGY, scriptsFor } from '../../scripts/vite-page.ts'
import { root } from '../architecture/files.ts'
import { exportedNames } from './exported-names.ts'

const run = promisify(execFile)
/** Every kind of file that is published, so that a new one shows in review. */
const KINDS = `
  LICENSE
  *.json *.md
  conformance/*.json conformance/*.md conformance/*.mjs conformance/*.py
  dist/*.d.ts dist/*.js dist/*.js.map dist/*.json
  dist/adapters/*.d.ts dist/adapters/*.js
  dist/browser/*.d.ts dist/browser/*.js
  dist/chunks/*.d.ts dist/chunks/*.js
  dist/cli/*.js
  dist/crawl/*.d.ts dist/crawl/*.js
  dist/element/*.d.ts dist/element/*.js
  dist/lint/*.d.ts dist/lint/*.js
  dist/lint/fix/*.d.ts dist/lint/fix/*.js
  dist/lint/reporters/*.d.ts dist/lint/reporters/*.js
  dist/node/*.d.ts dist/node/*.js
  dist/objects/*.d.ts dist/objects/*.js
  dist/outputs/*.d.ts dist/outputs/*.js
  dist/platform/*.js
  dist/providers/*.d.ts dist/providers/*.js
  dist/services/client/*.d.ts dist/services/client/*.js
  dist/services/time-tracking/*.d.ts dist/services/time-tracking/*.js
  dist/services/translation/*.d.ts dist/services/translation/*.js
  dist/strategies/*.d.ts dist/strategies/*.js
  dist/strategies/http/*.d.ts dist/strategies/http/*.js
  dist/strategies/oauth2/*.d.ts dist/strategies/oauth2/*.js
  dist/strategies/s3/*.d.ts dist/strategies/s3/*.js
  dist/strategies/signed-url/*.d.ts dist/strategies/signed-url/*.js
  man/*.1
  schemas/*.json
  schemas/authentication/*.json
  schemas/authentication/v1.0.0/*.json schemas/authentication/v1.1.0/*.json schemas/authentication/v1.2.0/*.json
`
  .trim()
  .split(/\s+/)
  .sort()
/** A path with `*` for its name, whose end stays. */
const kindOf = (path: string) => path.replace(/[^/]+?(\.d\.ts|\.js\.map|\.[a-z0-9]+)$/, '*$1')

const ITEM = {
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
  id: 'a',
  geometry: null,
  properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { key: { type: 'apiKey', in: 'header', name: 'x-key' } } },
  links: [],
  assets: { data: { href: 'https://data.example/a.tif', 'auth:refs': ['kye'] } },
}

/** What a user gets: the packed package, installed into an empty folder. */
describe('the package, installed from its tarball', () => {
  let folder = ''
  let tarball = ''
  let installed = ''
  let files: readonly string[] = []

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'stac-auth-package-')))
    ;({ tarball, files } = await packInto(folder))
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
    await installInto(folder, [tarball])
    installed = join(folder, 'node_modules/stac-auth')
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  const node = (...args: string[]) => run(process.execPath, args, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } })

  it('the package, installed from its tarball holds what it needs and nothing else', async () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'package.json',
        'LICENSE',
        'README.md',
        'CHANGELOG.md',
        'SECURITY.md',
        'THIRD-PARTY.md',
        'dist/index.js',
        'dist/index.d.ts',
      ]),
    )
    const { stdout } = await run('git', ['ls-files'], { cwd: root })
    const inGit = new Set(stdout.split('\n'))
    const built = new Set([
      'dist/browser.bundle.js',
      'dist/browser.bundle.js.map',
      'dist/browser.bundle.json',
      'dist/browser.bundle.d.ts',
      'dist/rule-pages.json',
    ])
    const joined = /^dist\/chunks\/[\w-]+\.(?:js|d\.ts)$/
    const isBuilt = (path: string) =>
      built.has(path) || joined.test(path) || inGit.has(path.replace(/^dist\//, 'src/').replace(/\.(?:d\.ts|js)$/, '.ts'))
    // Nothing that lies about in the folder, such as a file of credentials, is ever published.
    expect(files.filter((path) => !inGit.has(path) && !(path.startsWith('dist/') && isBuilt(path)))).toEqual([])
    expect([...new Set(files.map(kindOf))].sort()).toEqual(KINDS)
    expect(files.filter((path) => /\.test\./.test(path))).toEqual([])
  })

  it('is small: few files, and nothing that only the repository needs', async () => {
    expect(files.length).toBeLessThanOrEqual(MOST_FILES)
    const { scripts, devDependencies, overrides, dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    expect({ scripts, devDependencies, overrides }).toEqual({})
    expect(Object.keys(dependencies)).toContain('undici')
  })

  it('brings its manual pages where it is installed for all folders', async () => {
    const prefix = join(folder, 'global')
    const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
    await run('npm', ['install', '--global', '--prefix', prefix, ...options, tarball])
    const pages = await readdir(join(prefix, 'share/man/man1'))
    expect(pages.sort()).toEqual(files.flatMap((path) => /^man\/(.*)$/.exec(path)?.[1] ?? []).sort())
    expect(pages).toContain('stac-auth-lint.1')
  })

  it('brings only the dependencies that the package names, and theirs', async () => {
    const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const names = (await readdir(join(folder, 'node_modules'))).filter((name) => !name.startsWith('.'))
    expect(names.sort()).toEqual([...Object.keys(dependencies), 'jose', 'oauth4webapi', 'stac-auth', 'tldts-core'].sort())
  })

  it('the package, installed from its tarball can be imported under every name it exports', async () => {
    const { exports } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    const names = exportedNames(exports, files)
    expect(names).toEqual(
      expect.arrayContaining([
        '.',
        './engine',
        './strategy',
        './lint',
        './crawl',
        './objects',
        './clients',
        './time-tracking',
        './node',
        './outputs/curl',
        './adapters/zarrita',
        './strategies/api-key',
        './package.json',
      ]),
    )
    const imports = names.map((name) => {
      const attributes = name.endsWith('.json') ? ", { with: { type: 'json' } }" : ''
      return `await import(${JSON.stringify(name.replace('.', 'stac-auth'))}${attributes})`
    })
    await writeFile(join(folder, 'all.mjs'), `${imports.join('\n')}\nconsole.log(${imports.length})\n`)
    expect((await node('all.mjs')).stdout.trim()).toBe(String(names.length))
  })

  it('can be required by CommonJS, as one copy with what is imported', async () => {
    const program = `const required = require('stac-auth')
      import('stac-auth').then((imported) => console.log(typeof required.createAuth, required.createAuth === imported.createAuth))`
    await writeFile(join(folder, 'required.cjs'), program)
    expect((await node('required.cjs')).stdout).toBe('function true\n')
  })

  it.each(['dist/index.js', 'strategies/s3/sigv4', 'strategies/reveal', 'outputs/redact', 'outputs/handed-over'])(
    'keeps %s to itself',
    async (name) => {
      await writeFile(join(folder, 'inside.mjs'), `import 'stac-auth/${name}'`)
      await expect(node('inside.mjs')).rejects.toThrow(/ERR_PACKAGE_PATH_NOT_EXPORTED/)
    },
  )

  it('the package, installed from its tarball has a program that tells its version and its commands', async () => {
    const program = join(folder, 'node_modules/.bin/stac-auth')
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect((await node(program, '--version')).stdout.trim()).toBe(version)
    const { stdout } = await node(program, '--help')
    for (const command of ['lint', 'explain', 'authorize', 'fetch', 'list', 'credentials', 'rules']) expect(stdout).toContain(command)
    expect((await readFile(program, 'utf8')).startsWith('#!/usr/bin/env node\n')).toBe(true)
    await expect(run(program, ['--version'], { cwd: folder })).resolves.toBeDefined()
  })

  it('satisfies publint', async () => {
    const data = await readFile(tarball)
    const { messages, pkg } = await publint({ strict: true, pack: { tarball: new Uint8Array(data).buffer } })
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
  })

  it('loads the packages that its modules load with every entry, and hardly more code', async () => {
    const entries = await entriesOf(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
    const [modules, joined] = await Promise.all([graph(entries), graph(entries, installed)])
    const loaded = (all: ReadonlyMap<string, Module>, entry: string) => {
      const paths = [...reached(all, [`dist/${entry}`])]
      const packages = paths.filter((path) => !all.has(path)).sort()
      return { packages, bytes: paths.reduce((sum, path) => sum + (all.get(path)?.bytes ?? 0), 0) }
    }
    expect(entries.length).toBeGreaterThan(50)
    expect(entries.flatMap((entry) => loaded(modules, entry).packages)).toContain('undici/lib/dispatcher/agent.js')
    for (const entry of entries) {
      const [before, after] = [loaded(modules, entry), loaded(joined, entry)]
      expect(after.packages, entry).toEqual(before.packages)
      expect(after.bytes, entry).toBeLessThan(before.bytes * 1.2 + 30_000)
    }
  })

  it.each(['lint item.json', 'explain item.json', 'fetch --help', 'rules', '--help'])(
    'loads fewer files for %s than there are modules, and hardly more code',
    async (command) => {
      await writeFile(join(folder, 'item.json'), JSON.stringify(ITEM))
      const loaded = async (program: string) => {
        const coverage = await mkdtemp(join(folder, 'coverage-'))
        const env = { PATH: process.env.PATH, HOME: folder, NODE_V8_COVERAGE: coverage }
        await run(process.execPath, [program, ...command.split(' ')], { cwd: folder, env }).catch(() => undefined)
        const [name = ''] = await readdir(coverage)
        const { result }: { result: readonly { readonly url: string }[] } = JSON.parse(await readFile(join(coverage, name), 'utf8'))
        const paths = result.flatMap(({ url }) => (url.startsWith('file:') ? [fileURLToPath(url)] : []))
        const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
        return { files: paths.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
      }
      const [before, after] = [await loaded(join(root, 'dist/cli/bin.js')), await loaded(join(installed, 'dist/cli/bin.js'))]
      expect(after.files).toBeGreaterThan(5)
      expect(after.files).toBeLessThan(before.files * 0.85)
      expect(after.bytes).toBeLessThan(before.bytes * 1.6)
    },
  )

  it('has no files that need each other, so that it does not matter which is loaded first', async () => {
    const entries = await entriesOf(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
    const joined = await graph(entries, installed)
    const circular = [...joined].filter(([path, { at }]) => reached(joined, at).has(path)).map(([path]) => path)
    expect(circular).toEqual([])
    expect(joined.size).toBeGreaterThan(100)
  })

  it('exports under each name what the modules export', async () => {
    const entries = (await entriesOf(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))).filter(
      (path) => !/^(?:cli|platform)/.test(path),
    )
    const program = `const names = async (folder) => Promise.all(${JSON.stringify(entries)}.map(async (path) =>
        [path, Object.keys(await import(folder + '/dist/' + path)).join()]))
      console.log(JSON.stringify([await names(process.argv[2]), await names(process.argv[3])]))`
    await writeFile(join(folder, 'names.mjs'), program)
    const [modules, joined] = JSON.parse((await node('names.mjs', root.replace(/\/$/, ''), installed)).stdout)
    expect(joined).toEqual(modules)
    expect(joined.length).toBeGreaterThan(50)
  })

  const adapters = Object.entries(ADAPTER_BUDGETS).map(([name, budget]) => ({ entry: `dist/adapters/${name}.js`, budget }))
  // A provider alone is no entry of the package: it stands in a file with the others.
  const inPackage = BUDGETS.filter(({ entry }) => entry !== 'dist/providers/copernicus.js')
  it.each([...inPackage, ...adapters])('keeps $entry within its budget', async ({ entry, budget }) => {
    const { eager } = await bundle(entry, installed)
    expect(eager).toBeLessThanOrEqual(budget)
  })

  it.each(Object.entries({ ONE_STRATEGY, ONE_FETCH, LINT }))(
    'gives the page %s what its modules give, at once and in all',
    async (_name, page) => {
      const [modules, joined] = await Promise.all([builtByVite(page), builtByVite(page, installed)])
      const atOnce = (chunks: typeof modules) => gzipped(scriptsFor(chunks, []))
      expect(atOnce(joined)).toBeLessThan(atOnce(modules) * 1.1)
      expect(gzipped(joined)).toBeLessThan(gzipped(modules) * 1.1)
      const withLogins = (chunks: typeof modules) => chunks.some(({ code }) => /authorization_endpoint|code_verifier/.test(code))
      expect(withLogins(joined)).toBe(withLogins(modules))
      expect(withLogins(joined)).toBe(page === ONE_FETCH)
    },
  )

  it('runs each command', async () => {
    const program = join(folder, 'node_modules/.bin/stac-auth')
    const commands = (await readdir(join(root, 'src/cli/commands'))).map((name) => name.replace(/\.ts$/, ''))
    expect(commands.length).toBeGreaterThan(15)
    for (const command of commands) expect((await node(program, command, '--help')).stdout).toContain(`stac-auth ${command}`)
    expect((await node(program, 'rules', 'dangling-ref')).stdout).toContain('dangling-ref')
    await writeFile(join(folder, 'item.json'), JSON.stringify(ITEM))
    await expect(node(program, 'lint', 'item.json')).rejects.toMatchObject({ stdout: expect.stringContaining('dangling-ref') })
    await expect(node(program, 'explain', 'item.json')).rejects.toMatchObject({ stdout: expect.stringContaining('did you mean "key"?') })
  })

  const forBrowsers = (name: string) =>
    build({
      stdin: { contents: `import * as all from ${JSON.stringify(name)}; console.log(all)`, resolveDir: folder },
      bundle: true,
      format: 'esm',
      platform: 'browser',
      write: false,
      logLevel: 'silent',
    })

  it('the package, installed from its tarball can be bundled for browsers, except for what needs Node', async () => {
    await expect(forBrowsers('stac-auth')).resolves.toBeDefined()
    await expect(forBrowsers('stac-auth/lint')).resolves.toBeDefined()
    await expect(forBrowsers('stac-auth/crawl')).resolves.toBeDefined()
    await expect(forBrowsers('stac-auth/objects')).resolves.toBeDefined()
    await expect(forBrowsers('stac-auth/node')).rejects.toThrow(/Could not resolve "stac-auth\/node"/)
  })
})
