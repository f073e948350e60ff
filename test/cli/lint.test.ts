import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, keyFor } from './items.ts'
import { lastError, run } from './run.ts'
import { body, KEY, serve } from './server.ts'

const folder = await temporaryFolder()
const href = 'https://data.example/f'
const clean = await put(folder, 'clean.json', itemWith({ data: { href, 'auth:refs': ['key'] } }))
const dangling = await put(folder, 'dangling.json', JSON.stringify(itemWith({ data: { href, 'auth:refs': ['key', 'gone'] } }), null, 2))
const warning = await put(folder, 'warning.json', itemWith({ data: { href, 'auth:refs': ['key', 'key'] } }))

const report = async (...argv: string[]) => JSON.parse((await run(['lint', '--format', 'json', ...argv])).stdout)

describe('lint --format json', () => {
  it('lint --format json is the versioned report', async () => {
    const outcome = await run(['lint', '--format', 'json', dangling])
    expect([outcome.code, outcome.stderr]).toEqual([1, ''])
    const { version, problems, summary } = JSON.parse(outcome.stdout)
    expect(version).toBe(1)
    expect(summary).toEqual({ documents: 1, errors: 1, warnings: 0, infos: 0, incomplete: [] })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({
      code: 'dangling-ref',
      severity: 'error',
      document: dangling,
      id: 'x',
      pointer: '/assets/data/auth:refs/1',
      line: expect.any(Number),
      column: expect.any(Number),
    })
  })

  it('lint --format json is sent to a file while people read stdout', async () => {
    const file = join(folder, 'report.out')
    for (let round = 0; round < 2; round++) {
      const outcome = await run(['lint', dangling, '--format', 'pretty', '--format', `json=${file}`])
      expect(outcome.stdout).toContain('dangling-ref')
      expect(JSON.parse(await readFile(file, 'utf8')).problems).toHaveLength(1)
    }
  })
})

describe('exit code', () => {
  it.each([
    [[clean], 0],
    [[dangling], 1],
    [[clean, dangling], 1],
    [[warning], 0],
    [[warning, '--max-warnings', '0'], 1],
    [[warning, '--max-warnings', '1'], 0],
    [[warning, '--rule', 'duplicate-ref=error'], 1],
    [[dangling, '--rule', 'dangling-ref=off'], 0],
    [[dangling, '--preset', 'schema'], 0],
    [[join(folder, 'missing.json'), dangling], 6],
  ])('exit code of %j is %i', async (argv, exit) => {
    expect((await run(['lint', ...argv])).code).toBe(exit)
  })

  it.each([
    [[]],
    [[clean, '--rule', 'no-such-rule=off']],
    [[clean, '--rule', 'dangling-ref=fatal']],
    [[clean, '--rule', 'dangling-ref']],
    [[clean, '--format', 'html']],
    [[clean, '--format', 'json', '--format', 'pretty']],
    [[clean, '--max-warnings', '-1']],
    [[clean, '--preset', 'lax']],
  ])('exit code of %j is 2', async (argv) => {
    expect(await run(['lint', ...argv])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^(error USAGE: |\{"code":"USAGE",)/),
    })
  })

  it('exit code is 2 when a folder holds no documents', async () => {
    await mkdir(join(folder, 'empty', 'node_modules'), { recursive: true })
    await put(join(folder, 'empty'), 'readme.md', '# nothing')
    await put(join(folder, 'empty', 'node_modules'), 'package.json', '{}')
    expect(await run(['lint', join(folder, 'empty')])).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing to lint') })
  })
})

describe('inputs', () => {
  it('folders are linted with all that is below them, in order of names, without links that lead out', async () => {
    const tree = join(folder, 'tree')
    await mkdir(join(tree, 'b'), { recursive: true })
    await put(tree, 'c.json', itemWith({}))
    await put(tree, 'a.GEOJSON', itemWith({}))
    await put(join(tree, 'b'), 'i.json', itemWith({}))
    await symlink(dangling, join(tree, 'outside.json'))
    await symlink(join(tree, 'b', 'i.json'), join(tree, 'inside.json'))
    await symlink(tree, join(tree, 'b', 'loop.json'))
    const { problems, summary } = await report(tree, '--rule', 'unused-scheme=info')
    expect(summary.documents).toBe(4)
    expect(problems.map(({ document }: { document: string }) => document.slice(tree.length + 1))).toEqual([
      'a.GEOJSON',
      'b/i.json',
      'c.json',
      'inside.json',
    ])
  })

  it('inputs are standard input under a name of choice', async () => {
    const stdin = await readFile(dangling)
    const named = await run(['lint', '-', '--format', 'json', '--stdin-filename', 'draft.json'], { stdin })
    expect(JSON.parse(named.stdout).problems[0].document).toBe('draft.json')
    expect(JSON.parse((await run(['lint', '-', '--format', 'json'], { stdin })).stdout).problems[0].document).toBe('-')
  })

  it.each([
    ['{"type":', 'not-json'],
    ['<html>', 'not-json'],
    [Uint8Array.of(0x7b, 0xff, 0x7d), 'not-json'],
    [`{"type":"Catalog","a":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`, 'document-limit'],
  ])('inputs that are no documents are findings: %j is %s', async (stdin, code) => {
    const outcome = await run(['lint', '-', '--format', 'json'], { stdin })
    expect(outcome.code).toBe(1)
    expect(JSON.parse(outcome.stdout).problems).toMatchObject([{ code, severity: 'error' }])
  })

  it('inputs that never end are a finding too', async () => {
    const stdin = new Readable({
      read() {
        this.push(Buffer.alloc(1024 * 1024, 0x20))
      },
    })
    const outcome = await run(['lint', '-', '--format', 'json'], { stdin })
    expect([outcome.code, JSON.parse(outcome.stdout).problems[0].code]).toEqual([1, 'document-limit'])
  })

  it('inputs that cannot be read are reported, and the others are linted', async () => {
    const missing = join(folder, 'missing.json')
    const outcome = await run(['lint', missing, dangling, '--format', 'json'])
    const { problems, summary } = JSON.parse(outcome.stdout)
    expect(outcome.code).toBe(6)
    expect(problems).toHaveLength(1)
    expect(summary).toMatchObject({
      documents: 1,
      incomplete: [{ url: missing, code: 'FILE_ACCESS', message: expect.stringContaining('no such file') }],
    })
    expect(lastError(outcome).code).toBe('FILE_ACCESS')
  })

  it('inputs end with what there is when the run is interrupted', async () => {
    const outcome = await run(['lint', clean, '--format', 'json'], { signal: AbortSignal.abort('SIGINT') })
    expect(outcome.code).toBe(130)
    expect(JSON.parse(outcome.stdout).summary.incomplete).toEqual([{ url: clean, code: 'ABORTED', message: expect.any(String) }])
  })
})

describe('URLs', () => {
  beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', KEY))
  afterEach(() => vi.unstubAllEnvs())

  it('URLs are fetched with the credentials that allow them; their queries are not shown', async () => {
    const text = JSON.stringify(itemWith({ data: { href, 'auth:refs': ['key', 'gone'] } }))
    const server = await serve({ '/private/x.json?v=1': body(text) })
    const credentials = await put(folder, 'credentials.json', keyFor(server.origin))
    const outcome = await run([
      'lint',
      `${server.origin}private/x.json?v=1`,
      `${server.origin}gone`,
      '--format',
      'json',
      '--credentials',
      credentials,
    ])
    const { problems, summary } = JSON.parse(outcome.stdout)
    expect(problems[0]).toMatchObject({ code: 'dangling-ref', document: `${server.origin}private/x.json?v=…` })
    expect(summary.incomplete).toEqual([
      { url: `${server.origin}gone`, code: 'HTTP_404', message: expect.stringContaining('answered 404') },
    ])
    expect(outcome.code).toBe(5)
  })
})

describe('lint for people', () => {
  it('reports where, how bad, what and which rule, shows the line and sums up', async () => {
    const { stdout } = await run(['lint', dangling])
    expect(stdout).toContain(dangling)
    expect(stdout).toContain('dangling-ref')
    expect(stdout).toContain('auth:refs names "gone", which auth:schemes does not define: define it, or correct the name')
    expect(stdout).toMatch(/\| +"gone"\n/)
    expect(stdout).toContain('1 document: 1 error, 0 warnings')
    expect(stdout).not.toContain('\u001b')
  })

  it('lint for people has colours on a terminal only', async () => {
    expect((await run(['lint', dangling], { isTTY: true, env: { TERM: 'xterm' } })).stdout).toContain('\u001b[31merror')
    expect((await run(['lint', dangling], { isTTY: true, env: { TERM: 'xterm', NO_COLOR: '1' } })).stdout).not.toContain('\u001b')
  })

  it('lists errors only when asked to be quiet', async () => {
    expect((await run(['lint', warning, '--quiet'])).stdout).not.toContain('duplicate-ref')
    expect((await run(['lint', warning])).stdout).toContain('duplicate-ref')
  })

  it.each(['pretty', 'json'])('prints nothing as %s of a hostile document that a terminal would obey', async (format) => {
    const name = 'k\u001b[2J\n::error::\u202e\ud800'
    const path = await put(folder, 'hostile.json', itemWith({ [name]: { href, 'auth:refs': [name] } }))
    const { code, stdout, stderr } = await run(['lint', path, '--format', format, '--preset', 'strict'])
    expect(code).toBe(1)
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}|\p{Surrogate}/u)
    expect(stdout + stderr).not.toMatch(/^::/m)
  })
})
