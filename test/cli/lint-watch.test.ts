/** `lint --watch`: the built program over a folder that changes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { LintMemory } from '../../src/cli/lint/lint-memory.ts'
import type { LintResult } from '../../src/cli/lint/linter.ts'
import { put, temporaryFolder } from './folder.ts'
import { run } from './run.ts'

const [program = '', terminal = ''] = ['../../dist/cli/bin.js', 'at-terminal.py'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)
const EXTENSION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'
const itemWith = (ref: string) => ({
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: [EXTENSION],
  id: 'scene',
  geometry: null,
  properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { key: { type: 'apiKey', name: 'x-api-key', in: 'header' } } },
  links: [],
  assets: { data: { href: 'https://data.example/a.tif', 'auth:refs': [ref] } },
})

const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

/** A program that watches, and the text that it has written since it was last asked. */
function watching(argv: readonly string[], cwd: string) {
  const child = spawn(process.execPath, [program, 'lint', '--watch', ...argv], { cwd, env: { PATH: process.env.PATH } })
  started.push(child)
  const ended = once(child, 'close')
  const written = { stdout: '', stderr: '' }
  let heard = () => {}
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (text) => {
      written[name] += text
      heard()
    })
  /** Waits for a text, and returns what was written until then. */
  const until = async (text: string, name: keyof typeof written = 'stdout') => {
    while (!written[name].includes(text)) {
      const isEnded = await Promise.race([ended.then(() => true), new Promise<false>((resolve) => (heard = () => resolve(false)))])
      if (isEnded) throw new Error(`ended without "${text}": ${written.stdout}${written.stderr}`)
    }
    const end = written[name].indexOf(text) + text.length
    const before = written[name].slice(0, end)
    written[name] = written[name].slice(end)
    return before
  }
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    const [code, by] = await ended
    return code ?? by
  }
  return { until, end, written }
}

async function folderWith(files: Readonly<Record<string, unknown>>): Promise<string> {
  const folder = await temporaryFolder()
  for (const [name, content] of Object.entries(files)) await put(folder, name, content)
  return folder
}

describe('lint --watch', () => {
  it('each change has its line: written, replaced by an editor, new, in a new folder, removed', async () => {
    const folder = await folderWith({ 'a.json': itemWith('key'), 'b.json': itemWith('kye') })
    const { until, end, written } = watching(['.'], folder)
    expect(await until('2 documents: 1 error')).toContain('b.json:1:')
    await put(folder, 'a.json', itemWith('kex'))
    expect(await until('changed: a.json. 2 documents: 2 errors')).toMatch(/a\.json:1:\d+: error: .*"kex"/)
    for (const [ref, errors] of [
      ['key', '1 error'],
      ['kez', '2 errors'],
      ['key', '1 error'],
    ] as const) {
      await put(folder, 'a.json.tmp', itemWith(ref))
      await rename(join(folder, 'a.json.tmp'), join(folder, 'a.json'))
      await until(`changed: a.json. 2 documents: ${errors}`)
    }
    await mkdir(join(folder, 'new/below'), { recursive: true })
    await put(join(folder, 'new/below'), 'c.json', itemWith('kye'))
    expect(await until('added: new/below/c.json. 3 documents: 2 errors')).toContain('new/below/c.json:1:')
    await put(join(folder, 'new/below'), 'c.json', itemWith('key'))
    await until('changed: new/below/c.json. 3 documents: 1 error')
    await rm(join(folder, 'new'), { recursive: true })
    await until('removed: new/below/c.json. 2 documents: 1 error')
    await mkdir(join(folder, 'new'))
    await put(join(folder, 'new'), 'd.json', itemWith('key'))
    await until('added: new/d.json. 3 documents: 1 error')
    await put(join(folder, 'new'), 'd.json', itemWith('kye'))
    await until('changed: new/d.json. 3 documents: 2 errors')
    await rm(join(folder, 'new'), { recursive: true })
    await until('removed: new/d.json. 2 documents: 1 error')
    await unlink(join(folder, 'b.json'))
    await until('removed: b.json. 1 document: 0 errors')
    expect(written.stdout).not.toContain('\u001b')
    expect(await end('SIGINT')).toBe(0)
    expect(written.stderr).toBe('')
  })

  it('a file that does not change a finding or a document is not told', async () => {
    const folder = await folderWith({ 'a.json': itemWith('key'), 'package.json': { name: 'x' } })
    const { until, end, written } = watching(['.'], folder)
    await until('1 document: 0 errors')
    await until('\n')
    await put(folder, 'package.json', { name: 'y' })
    await put(folder, 'readme.txt', 'text')
    await put(folder, 'a.json', itemWith('key'))
    await put(folder, 'b.json', itemWith('key'))
    expect(await until('added: b.json.')).toBe('added: b.json.')
    expect(await end('SIGINT')).toBe(0)
    expect(written.stderr).toBe('')
  })

  it('a named file may be replaced and may come back, and a finding in another one is judged again', async () => {
    const catalog = { type: 'Catalog', stac_version: '1.1.0', stac_extensions: [EXTENSION], id: 'c', description: 'd', links: [] }
    const folder = await folderWith({
      'catalog.json': { ...catalog, 'auth:schemes': { key: { type: 's3' } } },
      'item.json': { ...itemWith('key'), properties: { datetime: '2026-01-01T00:00:00Z' } },
    })
    const { until, end } = watching(
      ['--infos', '--rule', 'missing-schemes=off', '--rule', 'dangling-ref=off', 'catalog.json', 'item.json'],
      folder,
    )
    await until('2 documents: 0 errors, 0 warnings, 0 infos')
    await unlink(join(folder, 'item.json'))
    await until('removed: item.json. 1 document: 0 errors, 0 warnings, 1 info')
    await until('cannot read "item.json"', 'stderr')
    await put(folder, 'item.json', { ...itemWith('key'), properties: { datetime: '2026-01-01T00:00:00Z' } })
    await until('added: item.json. 2 documents: 0 errors, 0 warnings, 0 infos')
    expect(await end('SIGINT')).toBe(0)
  })

  it('a changed configuration lints everything again, and an invalid one is told until it is corrected', async () => {
    const folder = await folderWith({ 'a.json': itemWith('kye'), 'lint.config': {} })
    const { until, end } = watching(['--config', 'lint.config', '.'], folder)
    await until('1 document: 1 error')
    await put(folder, 'lint.config', { rules: { 'dangling-ref': 'warn' } })
    expect(await until('changed: lint.config. 1 document: 0 errors, 1 warning')).toContain('a.json:1:')
    await put(folder, 'lint.config', { rules: { 'dangling-ref': 'loud' } })
    await until('it must be off, info, warn or error', 'stderr')
    await put(folder, 'lint.config', { rules: { 'dangling-ref': 'warn' } })
    await until('changed: lint.config. 1 document: 0 errors, 1 warning')
    await put(folder, 'lint.config', '{')
    await until('line 1', 'stderr')
    expect(await end('SIGINT')).toBe(2)
  })

  it('Ctrl-C ends with the exit code of the last state, SIGTERM with 143', async () => {
    const folder = await folderWith({ 'a.json': itemWith('kye') })
    const runs = [watching(['.'], folder), watching(['.'], folder)]
    for (const { until } of runs) await until('1 document: 1 error')
    expect(await Promise.all([runs[0]?.end('SIGINT'), runs[1]?.end('SIGTERM')])).toEqual([1, 143])
  })

  it('at a terminal the screen is cleared and the report fits it', async () => {
    const folder = await folderWith({
      'a.json': {
        ...itemWith('kye'),
        assets: Object.fromEntries(
          Array.from({ length: 40 }, (_, index) => [`a${index}`, { href: 'https://data.example/', 'auth:refs': [`k${index}`] }]),
        ),
      },
    })
    const steps = JSON.stringify([['Waiting for changes, Ctrl-C ends', '\u0003']])
    const { stdout, status } = spawnSync('python3', [terminal, steps, process.execPath, program, 'lint', '--watch', '.'], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, TERM: 'xterm' },
    })
    expect(stdout.startsWith('\u001b[2J\u001b[3J\u001b[H')).toBe(true)
    expect(stdout.split('\n').length).toBeLessThan(24)
    expect(stdout).toContain('40 errors')
    expect(status).toBe(1)
  })

  it.each([
    [['--watch', '--fix', '.'], '--watch and --fix exclude each other'],
    [['--watch', '--crawl', '.'], '--watch and --crawl exclude each other'],
    [['--watch', '-'], 'not stdin'],
    [['--watch', 'https://data.example/'], 'not URLs'],
    [['--watch'], 'nothing to watch'],
  ])('%j is refused', async (argv, message) => {
    const outcome = await run(['lint', ...argv])
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).toContain(message)
  })
})

describe('the memory of the linter', () => {
  const about = { document: 'a.json', preset: 'recommended' as const, rules: {} }
  const codesIn = ({ problems }: LintResult) =>
    problems.flatMap(({ document, code, severity }) => (severity === 'error' ? [`${document} ${code}`] : []))
  const task = (ref: string) => ({ text: JSON.stringify(itemWith(ref)) })

  it('a text is linted once, and again when it changed or was missing in a run', () => {
    const memory = new LintMemory({})
    const first = memory.lint(task('kye'), about)
    expect(codesIn(first)).toEqual(['a.json dangling-ref'])
    expect(memory.next()).toEqual({ changed: [], added: ['a.json'], removed: [] })
    expect(memory.lint(task('kye'), about)).toBe(first)
    expect(memory.next()).toEqual({ changed: [], added: [], removed: [] })
    expect(codesIn(memory.lint(task('key'), about))).toEqual([])
    expect(memory.next()).toEqual({ changed: ['a.json'], added: [], removed: [] })
    expect(memory.next()).toEqual({ changed: [], added: [], removed: ['a.json'] })
    expect(memory.lint(task('kye'), about)).not.toBe(first)
  })

  it('the same text in another document, or on another line, has findings of its own', () => {
    const memory = new LintMemory({})
    const found = memory.lint(task('kye'), about)
    expect(codesIn(memory.lint(task('kye'), { ...about, document: 'b.json' }))).toEqual(['b.json dangling-ref'])
    expect(memory.lint({ ...task('kye'), line: 7 }, about).problems[0]).toMatchObject({ line: 7 })
    expect(found.problems[0]).toMatchObject({ document: 'a.json', line: 1 })
  })

  it('a value without a text, or with parents, is linted each time', () => {
    const memory = new LintMemory({})
    const row = { value: itemWith('kye') }
    expect(memory.lint(row, about)).not.toBe(memory.lint(row, about))
    const below = { ...task('kye'), parents: [] }
    expect(memory.lint(below, about)).not.toBe(memory.lint(below, about))
  })
})
