import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GENERATED } from '../../scripts/generated-code.ts'
import { installInto, packInto } from '../../scripts/package.ts'
import { root } from '../architecture/files.ts'
import { exportedNames } from './exported-names.ts'

const run = promisify(execFile)
/** The folders and files beside them that are published, so that a new one shows in review. */
const PUBLISHED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'THIRD-PARTY.md',
  'dist',
  'docs',
  'fixtures',
  'package.json',
  'schemas',
  'src',
]

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
    const inGit = new Set([...stdout.split('\n'), ...GENERATED])
    const isBuilt = (path: string) =>
      /^dist\/(?:browser\.bundle\.(?:js|js\.map|json|d\.ts)|man\/stac-auth[\w-]*\.1)$/.test(path) ||
      inGit.has(path.replace(/^dist\//, 'src/').replace(/(?:\.d\.ts|\.js)(?:\.map)?$/, '.ts'))
    // Nothing that lies about in the folder, such as a file of credentials, is ever published.
    expect(files.filter((path) => !inGit.has(path) && !(path.startsWith('dist/') && isBuilt(path)))).toEqual([])
    expect([...new Set(files.map((path) => path.split('/')[0]))].sort()).toEqual(PUBLISHED)
    expect(files.filter((path) => /\.test\./.test(path))).toEqual([])
  })

  it('brings the source of each module and declaration, where its map says', async () => {
    const maps = files.filter((path) => path.endsWith('.map') && !path.includes('bundle'))
    expect(maps.length).toBe(2 * files.filter((path) => /^src\/.*(?<!\.d)\.ts$/.test(path)).length)
    for (const path of maps) {
      const { sources }: { sources: readonly string[] } = JSON.parse(await readFile(join(installed, path), 'utf8'))
      expect(files).toContain(join(path, '..', sources[0] ?? ''))
    }
  })

  it('brings its manual pages where it is installed for all folders', { timeout: 240_000 }, async () => {
    const prefix = join(folder, 'global')
    const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
    await run('npm', ['install', '--global', '--prefix', prefix, ...options, tarball])
    const pages = await readdir(join(prefix, 'share/man/man1'))
    const { man }: { man: readonly string[] } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    expect(pages.map((name) => `./dist/man/${name}`).sort()).toEqual([...man].sort())
    const whole = await readFile(join(prefix, 'share/man/man1/stac-auth.1'), 'utf8')
    const commands = pages.filter((name) => name !== 'stac-auth.1').map((name) => name.replace('.1', ''))
    expect(commands.length).toBeGreaterThan(15)
    for (const command of commands) expect(whole).toContain(`${command.replaceAll('-', '\\-')} (1)`)
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
        './strategy',
        './lint',
        './crawl',
        './objects',
        './clients',
        './time-tracking',
        './node',
        './outputs',
        './adapters/zarrita',
        './strategies',
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

  it('declares everything without the types of optional packages, but for those of React and Preact', async () => {
    const { exports, dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    const targets = Object.values(exports as Record<string, string | { types: string }>)
      .map((target) => (typeof target === 'string' ? target : target.types).replace(/^\.\//, '').replace(/\.js$/, '.d.ts'))
      .filter((target) => target.endsWith('.d.ts') && !/^dist\/element\/p?react\./.test(target))
      .map((target) => new RegExp(`^${target.replaceAll('.', '\\.').replace('*', '[^/]+')}$`))
    const read = new Set<string>()
    const packages = new Set<string>()
    const readAll = async (path: string): Promise<void> => {
      if (read.has(path)) return
      read.add(path)
      const text = (await readFile(join(installed, path), 'utf8')).replace(/\/\*.*?\*\//gs, '')
      for (const [, from, imported] of text.matchAll(/^(?:import|export)\b[^']*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm)) {
        const name = from ?? imported ?? ''
        if (name.startsWith('.')) await readAll(join(path, '..', name.replace(/\.[jt]s$/, '.d.ts')))
        else packages.add(name)
      }
    }
    for (const path of files.filter((file) => targets.some((target) => target.test(file)))) await readAll(path)
    expect(read.size).toBeGreaterThan(100)
    expect([...packages].filter((name) => !name.startsWith('node:') && !Object.hasOwn(dependencies, name))).toEqual([])
  })

  it('can be required by CommonJS, as one copy with what is imported', async () => {
    const program = `const required = require('stac-auth')
      import('stac-auth').then((imported) => console.log(typeof required.createAuth, required.createAuth === imported.createAuth))`
    await writeFile(join(folder, 'required.cjs'), program)
    expect((await node('required.cjs')).stdout).toBe('function true\n')
  })

  it.each(['dist/index.js', 'strategies/s3/sigv4', 'strategies/api-key', 'outputs/curl', 'auth/engine'])(
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

  it('loads each command, and runs commands', async () => {
    const program = join(folder, 'node_modules/.bin/stac-auth')
    const commands = (await readdir(join(root, 'src/cli/commands'))).map((name) => name.replace(/\.ts$/, ''))
    expect(commands.length).toBeGreaterThan(15)
    // In one process: three of them run below.
    const imports = commands.map((command) => `await import(${JSON.stringify(join(installed, `dist/cli/commands/${command}.js`))})`)
    await writeFile(join(folder, 'commands.mjs'), imports.join('\n'))
    await node('commands.mjs')
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
