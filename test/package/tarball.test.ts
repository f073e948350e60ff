import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installInto, packInto } from '../../scripts/packed.ts'
import { root } from '../architecture/files.ts'
import { exportedNames } from './exported-names.ts'

const run = promisify(execFile)
/** Sources that are there to be read. */
const EXAMPLE = /^examples\/(?:adapters\/)?[\w-]+\.ts$/

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
    const built = new Set(['dist/browser.bundle.js', 'dist/browser.bundle.js.map', 'dist/browser.bundle.json', 'dist/browser.bundle.d.ts'])
    const joined = new Set(['dist/shared.js', 'dist/strategies/oauth2/shared.js'])
    const isBuilt = (path: string) =>
      built.has(path) || joined.has(path) || inGit.has(path.replace(/^dist\//, 'src/').replace(/\.(?:d\.ts|js)$/, '.ts'))
    // Nothing that lies about in the folder, such as a file of credentials, is ever published.
    expect(files.filter((path) => !inGit.has(path) && !(path.startsWith('dist/') && isBuilt(path)))).toEqual([])
    expect(
      files.filter((path) => !/^(?:dist|schemas|conformance|docs|examples|man)\/|^(?:package\.json|[A-Z-]+(?:\.md)?)$/.test(path)),
    ).toEqual([])
    expect(files.filter((path) => /\.test\.|\.tsbuildinfo$|(?<!\.d)\.ts$/.test(path) && !EXAMPLE.test(path))).toEqual([])
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
