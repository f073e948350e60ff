/** Configurations of `lint`: those that extend others, ignored files, and what `--print-config` says. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { openEditor } from './language-server.ts'
import { run } from './run.ts'

const program = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

const item = {
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
  id: 'scene',
  geometry: null,
  properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { key: { type: 'apiKey', name: 'x-api-key', in: 'header' } } },
  links: [],
  assets: { data: { href: 'https://data.example/a.tif', 'auth:refs': ['kye'] } },
}

/** A folder with items in folders of those names, and configurations. */
async function folderWith(items: readonly string[], configs: Readonly<Record<string, unknown>>): Promise<string> {
  const folder = await temporaryFolder()
  for (const name of [...items, ...Object.keys(configs)]) await mkdir(join(folder, name, '..'), { recursive: true })
  for (const name of items) await put(folder, name, item)
  for (const [name, config] of Object.entries(configs)) await put(folder, name, config)
  return folder
}

async function documentsIn(folder: string, argv: readonly string[]): Promise<readonly string[]> {
  const { stdout, stderr } = await run(['lint', '--json', ...argv, folder])
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout).problems.map(({ document }: { document: string }) => document.slice(folder.length + 1))
}

describe('extends', () => {
  it('a configuration extends presets and files beside it; globs are relative to the file that has them', async () => {
    const folder = await folderWith(['a.json', 'shared/a.json'], {
      'lint.config': { extends: ['stac-auth:strict', './shared/base.config'], rules: { 'apikey-in': 'warn' } },
      'shared/base.config': {
        overrides: [
          { files: ['*.json'], rules: { 'dangling-ref': 'off' }, reason: 'shared' },
          { files: ['./a.json'], rules: { 'dangling-ref': 'off' }, reason: 'here' },
        ],
      },
    })
    const config = ['--config', join(folder, 'lint.config')]
    const { stdout } = await run(['lint', ...config, '--print-config', join(folder, 'shared/a.json')])
    expect(JSON.parse(stdout)).toMatchObject({
      preset: 'strict',
      files: [join(folder, 'shared/base.config'), join(folder, 'lint.config')],
      ignored: false,
      rules: {
        'dangling-ref': { level: 'off', reason: 'here' },
        'apikey-in': { level: 'warn', from: `${join(folder, 'lint.config')} /rules/apikey-in` },
      },
    })
    const above = await run(['lint', ...config, '--print-config', join(folder, 'a.json')])
    expect(JSON.parse(above.stdout).rules['dangling-ref']).toEqual({ level: 'error', from: 'preset strict' })
  })

  it('the command line goes before all configurations', async () => {
    const folder = await folderWith([], { 'lint.config': { extends: 'stac-auth:strict', rules: { 'dangling-ref': 'off' } } })
    const { stdout } = await run([
      'lint',
      '--config',
      join(folder, 'lint.config'),
      '--preset',
      'schema',
      '--rule',
      'dangling-ref=info',
      '--print-config',
      'a.json',
    ])
    expect(JSON.parse(stdout)).toMatchObject({ preset: 'schema', rules: { 'dangling-ref': { level: 'info', from: '--rule' } } })
  })

  it.each([
    [
      'a circle',
      { 'a.config': { extends: './b.config' }, 'b.config': JSON.stringify({ extends: ['stac-auth:strict', './a.config'] }, null, 2) },
      'CONFIG_INVALID',
      'b.config" line 4: it extends itself',
    ],
    ['itself', { 'a.config': { extends: './sub/../a.config' } }, 'CONFIG_INVALID', 'a.config" line 1: it extends itself'],
    [
      'a glob that no path is as long as',
      { 'a.config': { overrides: [{ files: ['x'.repeat(70_000)], rules: { 'dangling-ref': 'off' }, reason: 'x' }] } },
      'CONFIG_INVALID',
      'it must be a list of globs or URLs, each of at most 4096 characters',
    ],
    [
      'a pattern that no path is as long as',
      { 'a.config': { ignores: ['x'.repeat(5000)] } },
      'CONFIG_INVALID',
      'it must be a list of patterns as in .gitignore, each of at most 4096 characters',
    ],
    ['what is no JSON', { 'a.config': '{\n  "rules": {,' }, 'CONFIG_INVALID', 'a.config" line 2: '],
    ['a missing file', { 'a.config': { extends: './none.config' } }, 'FILE_ACCESS', 'a.config" extends a file that cannot be read: '],
    ['what looks like standard input', { 'a.config': { extends: './-' } }, 'FILE_ACCESS', 'a.config" extends a file that cannot be read: '],
    [
      'a fault in the extended file',
      { 'a.config': { extends: './b.config' }, 'b.config': { rules: { x: 'off' } } },
      'CONFIG_INVALID',
      'b.config" line 1: unknown rule',
    ],
  ])('%s is refused', async (_what, configs, code, message) => {
    const folder = await folderWith(['a.json'], configs)
    const { stderr } = await run(['lint', '--config', join(folder, 'a.config'), join(folder, 'a.json')])
    expect(stderr).toContain(code)
    expect(stderr).toContain(message)
  })
})

it('configurations that extend the same ones again and again are read once, and go before each other as if they were not', async () => {
  const bases = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [
      `${index}.config`,
      { extends: [`./${index + 1}.config`, `./${index + 1}.config`], rules: { 'apikey-in': index % 2 ? 'warn' : 'error' } },
    ]),
  )
  const folder = await folderWith([], {
    ...bases,
    '30.config': { rules: { 'dangling-ref': 'off' } },
    'again.config': { extends: ['./30.config', './other.config', './30.config'] },
    'other.config': { rules: { 'dangling-ref': 'info', 'apikey-in': 'info' } },
  })
  const printed = async (name: string) => {
    const { stdout } = await run(['lint', '--config', join(folder, name), '--print-config', 'a.json'])
    return JSON.parse(stdout)
  }
  expect(await printed('0.config')).toMatchObject({
    files: Array.from({ length: 31 }, (_, index) => join(folder, `${30 - index}.config`)),
    rules: { 'apikey-in': { level: 'error' }, 'dangling-ref': { level: 'off' } },
  })
  expect(await printed('again.config')).toMatchObject({ rules: { 'apikey-in': { level: 'info' }, 'dangling-ref': { level: 'off' } } })
})

describe('ignores', () => {
  const configs = {
    'conf/lint.config': { extends: './base.config', ignores: ['/drafts/*', '!drafts/keep.json'] },
    'conf/base.config': { ignores: ['old.json'] },
  }
  const items = ['old.json', 'conf/a.json', 'conf/old.json', 'conf/drafts/a.json', 'conf/drafts/keep.json', 'drafts/a.json']

  it('patterns skip files of folders below the configuration only, and --ignore goes before them', async () => {
    const folder = await folderWith(items, configs)
    const config = ['--config', join(folder, 'conf/lint.config')]
    expect(await documentsIn(folder, config)).toEqual(['conf/a.json', 'conf/drafts/keep.json', 'drafts/a.json', 'old.json'])
    expect(await documentsIn(folder, [...config, '--ignore', '!conf/old.json'])).toContain('conf/old.json')
    const named = await run(['lint', ...config, join(folder, 'conf/old.json')])
    expect(named.stdout).toContain('1 document: 1 error')
  })

  it('--print-config says whether a document is skipped', async () => {
    const folder = await folderWith(items, configs)
    const isIgnored = async (name: string) => {
      const { stdout } = await run(['lint', '--config', join(folder, 'conf/lint.config'), '--print-config', join(folder, name)])
      return JSON.parse(stdout).ignored
    }
    expect(await Promise.all(items.map(isIgnored))).toEqual([false, false, true, true, false, false])
  })

  it('a changed file that is ignored is not linted', async () => {
    const folder = await folderWith(items, configs)
    execFileSync('git', ['init', '-q'], { cwd: folder })
    execFileSync('git', ['add', '.'], { cwd: folder })
    const { stdout } = spawnSync(process.execPath, [program, 'lint', '--staged', '--format', 'concise', '--config', 'conf/lint.config'], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    })
    expect(stdout.split('\n').flatMap((line) => /^(.*?):\d/.exec(line)?.[1] ?? [])).toEqual([
      'conf/a.json',
      'conf/drafts/keep.json',
      'drafts/a.json',
      'old.json',
    ])
  })

  it('an ignored document has no findings in an editor', async () => {
    const folder = await folderWith(items, configs)
    const editor = await openEditor(['--config', join(folder, 'conf/lint.config')])
    expect(await editor.open(join(folder, 'conf/drafts/a.json'), item).findings()).toEqual([])
    expect(await editor.open(join(folder, 'conf/drafts/keep.json'), item).findings()).toHaveLength(1)
  })
})

describe('lint --print-config', () => {
  it('says for each code its level, where it is set and why', async () => {
    const folder = await folderWith([], {
      'lint.config': {
        rules: { 'unused-scheme': { level: 'off', reason: 'Items use them' } },
        overrides: [{ files: ['https://old.example/'], rules: { 'insecure-endpoint': 'off' }, reason: 'closed network' }],
      },
    })
    const config = join(folder, 'lint.config')
    const { stdout, code } = await run(['lint', '--config', config, '--print-config', 'https://old.example/a.json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      document: 'https://old.example/a.json',
      preset: 'recommended',
      files: [config],
      ignored: false,
      rules: {
        'unused-scheme': { level: 'off', from: `${config} /rules/unused-scheme`, reason: 'Items use them' },
        'insecure-endpoint': { level: 'off', from: `${config} /overrides/0/rules/insecure-endpoint`, reason: 'closed network' },
        'dangling-ref': { level: 'error', from: 'preset recommended' },
      },
    })
  })

  it('takes no inputs, and no option that does not select rules', async () => {
    expect(await run(['lint', '--print-config', 'a.json', 'b.json'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('takes no inputs'),
    })
    expect(await run(['lint', '--print-config', 'a.json', '--fix'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--print-config and --fix exclude'),
    })
  })
})
