import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { lastError, run } from './run.ts'

const folder = await temporaryFolder()
const href = 'https://data.example/f'
const itemOf = (...refs: string[]) => itemWith({ data: { href, 'auth:refs': refs } })
const dangling = await put(folder, 'dangling.json', itemOf('key', 'gone'))
const warning = await put(folder, 'warning.json', itemOf('key', 'key'))
const clean = await put(folder, 'clean.json', itemOf('key'))
const report = async (...argv: string[]) => JSON.parse((await run(['lint', '--format', 'json', ...argv])).stdout)

describe('lint --format', () => {
  it.each(['concise', 'ndjson', 'sarif', 'junit', 'github', 'gitlab', 'markdown', 'rdjson'])('%s prints a report', async (format) => {
    const { code, stdout, stderr } = await run(['lint', dangling, clean, '--format', format])
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout).toContain('dangling-ref')
  })

  it('lists several findings at one place in the same order in every format', async () => {
    const schemes = { key: { type: 'http', scheme: 'basic', password: 'correct horse' } }
    const item = { ...itemOf('key'), properties: { datetime: null, 'auth:schemes': schemes } }
    const secret = await put(folder, 'secret.json', item)
    const codesOf = async (...argv: string[]) =>
      (await run([...argv, '--format', 'concise'])).stdout.match(/(?<=\[)(?:secret-in-document|unknown-field)(?=\])/g)
    const [part, codes] = [join(folder, 'secret-report.json'), ['secret-in-document', 'unknown-field']]
    expect(await codesOf('lint', secret, '--shard', '1/1', '--format', `json=${part}`)).toEqual(codes)
    expect((await report(secret)).problems.map(({ code }: { code: string }) => code)).toEqual(codes)
    expect(await codesOf('merge', part)).toEqual(codes)
  })

  it('writes several reports at once, each to its file', async () => {
    const files = ['sarif', 'junit', 'gitlab'].map((format) => join(folder, `report.${format}`))
    const formats = files.flatMap((file) => ['--format', `${file.split('.').at(-1)}=${file}`])
    const { code, stdout } = await run(['lint', dangling, clean, '--format', 'concise', ...formats])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^.*dangling\.json:1:\d+: error: /)
    const [sarif = '', junit = '', gitlab = ''] = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    expect(JSON.parse(sarif).runs[0].results).toHaveLength(1)
    expect(junit).toContain(`name="${clean}"/>`)
    expect(JSON.parse(gitlab)[0].fingerprint).toBe('dangling-ref x /assets/data/auth:refs/gone')
  })

  it('says that the folder of a report does not exist', async () => {
    for (const format of ['json', 'ndjson']) {
      const outcome = await run(['lint', clean, '--format', `${format}=${join(folder, 'nowhere', 'x')}`, '--format', 'concise'])
      expect(outcome.code).toBe(6)
      expect(outcome.stderr).toContain('no such file or folder\n  create its folder first')
    }
  })

  it('writes the others when one cannot be written, and then says so', async () => {
    const [lost, kept] = [join(folder, 'nowhere', 'x.json'), join(folder, 'kept.json')]
    const outcome = await run(['lint', dangling, '--format', `json=${lost}`, '--format', `ndjson=${kept}`, '--format', 'concise'])
    expect([outcome.code, outcome.stderr]).toEqual([6, expect.stringContaining('FILE_ACCESS')])
    expect(outcome.stdout).toContain('[dangling-ref]')
    expect(await readFile(kept, 'utf8')).toContain('"summary"')
  })

  it('writes the others when the reader of one has gone, and the findings count', async () => {
    const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(gone) })
    const file = join(folder, 'after.json')
    const { code, stderr } = await run(['lint', dangling, '--format', 'concise', '--format', `json=${file}`], { stdout })
    expect([code, stderr]).toEqual([1, ''])
    expect(JSON.parse(await readFile(file, 'utf8')).problems).toHaveLength(1)
  })

  it.each(['ndjson', 'concise'])('%s has the lines of a document before the next one is read', async (format) => {
    let printed = ''
    const stdout = new Writable({
      write: (chunk, _encoding, done) => {
        printed += chunk
        done()
      },
    })
    const seen: string[] = []
    async function* documents() {
      yield Buffer.from(`${JSON.stringify(itemOf('gone'))}\n${JSON.stringify(itemOf('key'))}\n`)
      while (!printed) await new Promise((resolve) => setImmediate(resolve))
      seen.push(printed)
      yield Buffer.from(`${JSON.stringify(itemOf('gone'))}\n`)
    }
    await run(['lint', '-', '--format', format], { stdin: Readable.from(documents()), stdout })
    expect(seen).toEqual([expect.stringMatching(/dangling-ref.*\n(?:.*\n)*$/)])
    expect(printed.startsWith(seen[0] ?? 'nothing')).toBe(true)
    expect(printed.match(/"code":"dangling-ref"|\[dangling-ref\]/g)).toHaveLength(2)
  })

  it('says which option makes a run fail whose findings are warnings', async () => {
    const stderr = async (...argv: string[]) => (await run(['lint', warning, ...argv])).stderr
    expect(await stderr('--max-warnings', '0')).toBe('1 warning: more than --max-warnings 0 allows\n')
    expect(await stderr('--fail-severity', 'warn', '--quiet')).toBe(
      '1 finding of --fail-severity warn or higher, which --quiet does not list\n',
    )
    for (const argv of [
      ['--max-warnings', '1'],
      ['--fail-severity', 'warn'],
      ['--max-warnings', '0', '--format', 'json'],
    ])
      expect(await stderr(...argv)).toBe('')
  })

  it('replaces no input of the run', async () => {
    const config = await put(folder, 'settings.json', '{}')
    for (const file of [dangling, config]) {
      const before = await readFile(file, 'utf8')
      const outcome = await run(['lint', dangling, '--config', config, '--format', `json=${file}`])
      expect([outcome.code, outcome.stderr]).toEqual([
        2,
        expect.stringContaining(`the report would replace "${file}", which is an input of this run`),
      ])
      expect(await readFile(file, 'utf8')).toBe(before)
    }
    const part = join(folder, 'part.json')
    await run(['lint', dangling, '--format', `json=${part}`])
    const before = await readFile(part, 'utf8')
    const merged = await run(['merge', part, '--format', `json=${part}`])
    expect([merged.code, await readFile(part, 'utf8')]).toEqual([2, before])
  })

  it('writes no two of them to one file', async () => {
    const file = join(folder, 'one.txt')
    const again = join(folder, 'x', '..', 'one.txt')
    const outcome = await run(['lint', dangling, '--format', `json=${file}`, '--format', `concise=${again}`])
    expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining('two reports cannot be written to')])
    await expect(stat(file)).rejects.toThrow()
  })

  it('lists no more for people than it may', async () => {
    const stdin = JSON.stringify(itemOf('key', ...Array.from({ length: 150 }, (_, index) => `gone${index}x`)))
    expect((await run(['lint', '-'], { stdin })).stdout).toContain('… and 50 more')
    expect((await run(['lint', '-', '--max-problems', '149'], { stdin })).stdout).toContain('… and 1 more')
  })
})

describe('lint --format F=-', () => {
  it('prints the report to standard output', async () => {
    const [dash, plain] = [await run(['lint', dangling, '--format', 'json=-']), await run(['lint', dangling, '--format', 'json'])]
    expect(JSON.parse(dash.stdout)).toEqual(JSON.parse(plain.stdout))
  })
})

describe('lint --fail-severity', () => {
  it.each([
    [warning, 'error', 0],
    [warning, 'warn', 1],
    [clean, 'info', 0],
    [dangling, 'warn', 1],
  ])('%s from %s on is %i', async (file, level, exit) => {
    expect((await run(['lint', file, '--fail-severity', level])).code).toBe(exit)
  })
})

describe('lint --config', () => {
  it('sets preset and levels, and gives way to the command line', async () => {
    const config = await put(folder, 'config.json', { preset: 'schema', rules: { 'duplicate-ref': 'error' } })
    expect((await report(dangling, '--config', config)).problems).toEqual([])
    expect((await run(['lint', warning, '--config', config])).code).toBe(1)
    expect((await run(['lint', warning, '--config', config, '--rule', 'duplicate-ref=off'])).code).toBe(0)
    expect((await run(['lint', dangling, '--config', config, '--preset', 'recommended'])).code).toBe(1)
  })

  it('overrides by globs below its own folder', async () => {
    await mkdir(join(folder, 'tree', 'old'), { recursive: true })
    const old = await put(join(folder, 'tree', 'old'), 'a.json', itemOf('gone'))
    const fresh = await put(join(folder, 'tree'), 'a.json', itemOf('gone'))
    const rules = { 'dangling-ref': 'off', 'unused-scheme': 'off' }
    const config = await put(join(folder, 'tree'), 'c.json', { overrides: [{ files: ['old/**'], rules, reason: 'kept as it was' }] })
    const { problems } = await report(old, fresh, '--config', config)
    expect(problems.filter(({ code }: { code: string }) => code === 'dangling-ref')).toMatchObject([{ document: fresh }])
  })

  it('lint --config is not read from the folder where the command runs', async () => {
    await put(folder, 'stac-auth.config.json', { rules: { 'dangling-ref': 'off' } })
    const before = process.cwd()
    process.chdir(folder)
    const outcome = await run(['lint', 'dangling.json']).finally(() => process.chdir(before))
    expect(outcome.code).toBe(1)
  })

  it.each([
    ['{ "preset": "strict",\n  "rule": {} }', 'CONFIG_INVALID', 'line 2: "rule" is unknown (did you mean "rules"?)'],
    ['{ "rules": { "no-such": "off" } }', 'CONFIG_INVALID', 'unknown rule'],
    ['{', 'CONFIG_INVALID', 'line 1'],
    ['{"preset":"strict","preset":"schema"}', 'CONFIG_INVALID', 'appears twice'],
  ])('lint --config that is %j is refused', async (text, code, message) => {
    const config = await put(folder, 'bad.json', text)
    const outcome = await run(['lint', clean, '--config', config, '--format', 'json'])
    expect([outcome.code, outcome.stdout]).toEqual([2, ''])
    expect(lastError(outcome)).toMatchObject({ code, message: expect.stringContaining(message) })
  })
})

describe('lint --baseline', () => {
  it('says how to create a baseline that does not exist', async () => {
    const missing = join(folder, 'no-baseline.json')
    const outcome = await run(['lint', clean, '--baseline', missing, '--format', 'json'])
    expect([outcome.code, outcome.stdout]).toEqual([6, ''])
    expect(lastError(outcome)).toMatchObject({ code: 'FILE_ACCESS', hint: expect.stringContaining('add --update-baseline') })
  })

  it('counts what is known, lists what is new, and is pruned of what is gone', async () => {
    const file = join(folder, 'baseline.json')
    const work = await put(folder, 'work.json', itemOf('key', 'gone', 'lost'))
    expect((await run(['lint', work, '--baseline', file, '--update-baseline'])).code).toBe(0)
    expect(Object.keys(JSON.parse(await readFile(file, 'utf8')).findings)).toHaveLength(2)
    await writeFile(work, JSON.stringify(itemOf('new', 'gone', 'key'), null, 4))
    const outcome = await run(['lint', work, '--baseline', file])
    expect([outcome.code, outcome.stdout]).toEqual([1, expect.stringContaining('auth:refs names "new"')])
    expect(outcome.stdout).toContain('1 error, 0 warnings, 0 infos, 1 in the baseline')
    expect(outcome.stdout).not.toContain('"gone"')
    expect(outcome.stderr).toContain('if they are fixed, use --prune-baseline to remove them')
    expect(outcome.stderr).toContain('dangling-ref x /assets/data/auth:refs/lost')
    expect((await report(work, '--baseline', file)).summary).toMatchObject({ errors: 1, baselined: 1 })
    const pruned = await run(['lint', work, '--baseline', file, '--prune-baseline'])
    expect(pruned.stderr).toContain(
      `removed from "${file}", because this run did not find them:\n  dangling-ref x /assets/data/auth:refs/lost`,
    )
    expect(Object.keys(JSON.parse(await readFile(file, 'utf8')).findings)).toEqual(['dangling-ref x /assets/data/auth:refs/gone'])
  })

  it('keeps its mode, and is never written through a link', async () => {
    const file = await put(folder, 'mode.json', { version: 1, findings: {} })
    await chmod(file, 0o640)
    await run(['lint', dangling, '--baseline', file, '--update-baseline'])
    expect((await stat(file)).mode & 0o777).toBe(0o640)
    await symlink(file, join(folder, 'link.json'))
    const outcome = await run(['lint', warning, '--baseline', join(folder, 'link.json'), '--update-baseline', '--format', 'json'])
    expect([outcome.code, lastError(outcome).code]).toEqual([6, 'PATH_UNSAFE'])
  })

  it('lint --baseline is left unchanged when not everything could be read', async () => {
    const file = join(folder, 'partial.json')
    const outcome = await run(['lint', dangling, join(folder, 'missing.json'), '--baseline', file, '--update-baseline'])
    expect(outcome.code).toBe(6)
    expect(outcome.stderr).toContain('is unchanged: not every document could be read')
    await expect(stat(file)).rejects.toThrow()
  })

  it.each([
    [['--update-baseline'], 'USAGE', 2],
    [['--baseline', join(folder, 'b'), '--update-baseline', '--prune-baseline'], 'USAGE', 2],
    [['--baseline', join(folder, 'none.json')], 'FILE_ACCESS', 6],
    [['--baseline', clean], 'CONFIG_INVALID', 2],
  ])('lint --baseline with %j is refused', async (argv, code, exit) => {
    const outcome = await run(['lint', clean, '--format', 'json', ...argv])
    expect([outcome.code, lastError(outcome).code]).toEqual([exit, code])
  })
})
