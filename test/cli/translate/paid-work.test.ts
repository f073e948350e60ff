/** What was paid for is kept, whatever ends the command. */

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { hashOf, memoryKey } from '../../../src/cli/translate/text-memory.ts'
import { startTranslationFake, type TranslationFake } from '../../servers/translation/translation-fake.ts'
import { put, temporaryFolder } from '../folder.ts'
import { lastError, run, type Surroundings } from '../run.ts'

const PROGRAM = fileURLToPath(new URL('../../../dist/cli/bin.js', import.meta.url))
const KEY = 'test-pro'
const env = { STAC_AUTH_TRANSLATION_KEY: KEY }
let fake: TranslationFake
beforeAll(async () => {
  fake = await startTranslationFake({ queueMs: 0, translateMs: 0 })
})
beforeEach(() => fake.reset())
afterAll(() => fake.close())

const translate = (argv: readonly string[], around: Surroundings = {}) =>
  run(['translate', ...argv, '--base-url', fake.url], { env, ...around })

/** Paragraphs, each of them another one. */
const paragraphs = (count: number) => Array.from({ length: count }, (_, index) => `Paragraph ${index + 1}.`).join('\n\n')
const charactersIn = (text: string) => text.split('\n\n').join('').length
const billed = () => fake.state.billed.reduce((sum, { characters }) => sum + characters, 0)
const translated = (text: string) => text.replace(/^(?=Paragraph)/gm, '[DE] ')
/** The texts of the requests that were refused: requests arrive in any order. */
const refused = () => fake.log.filter(({ status }) => status === 400).flatMap(({ body }) => JSON.parse(body).text as string[])
const numbersOf = (texts: readonly string[]) => texts.map((text) => Number(/\d+/.exec(text)))
const REFUSED = { status: 400, body: { message: 'The text is not allowed.' } }

describe('a command of which a part fails', () => {
  it('writes what is finished, names what is missing, and continues with the rest only', async () => {
    const folder = await temporaryFolder()
    const [one, other] = [await put(folder, 'one.txt', paragraphs(150)), await put(folder, 'other.txt', 'Short.')]
    fake.script({ match: { op: 8, nth: 2 }, do: REFUSED })
    const failed = await translate([one, other, '--to', 'DE', '--output-dir', folder])
    const lost = refused()
    const isOther = lost.includes('Short.')
    expect([failed.code, failed.stderr]).toEqual([
      5,
      expect.stringContaining(`error BATCH_INCOMPLETE: ${lost.length} of 151 texts are not`),
    ])
    expect(failed.stderr).toContain('  continue with: stac-auth translate --resume ')
    if (!isOther) {
      const [first] = numbersOf(lost)
      const reason = `, paragraphs ${first}-${Number(first) + 49}: POST ${fake.url}/v2/translate: the server answered 400: The text is not allowed.\n`
      expect(failed.stderr).toContain(`  - HTTP_400: ${one}${reason}`)
      expect(failed.stderr).toContain('one.de.txt, with 50 of 150 paragraphs in the original language\n')
    }
    expect((await readdir(folder)).includes('other.de.txt')).toBe(!isOther)
    const incomplete = await readFile(join(folder, 'one.de.txt'), 'utf8')
    expect(incomplete.replaceAll('[DE] ', '')).toBe(paragraphs(150))
    expect(incomplete.match(/\[DE\]/g)).toHaveLength(isOther ? 150 : 100)
    const record = join(folder, 'one.de.txt.resume.json')
    expect((await stat(record)).mode & 0o777).toBe(0o600)
    expect(await readFile(record, 'utf8')).not.toContain(KEY)
    expect((await translate(['--resume', record, '--json'])).code).toBe(0)
    expect(await readFile(join(folder, 'one.de.txt'), 'utf8')).toBe(translated(paragraphs(150)))
    expect(await readFile(join(folder, 'other.de.txt'), 'utf8')).toBe('[DE] Short.')
    expect((await readdir(folder)).sort()).toEqual(['one.de.txt', 'one.txt', 'other.de.txt', 'other.txt'])
    expect(billed()).toBe(charactersIn(paragraphs(150)) + 'Short.'.length)
    fake.assertClean()
  })

  it('prints what is finished with --json, with the places that are missing', async () => {
    fake.script({ match: { op: 8, nth: 2 }, do: REFUSED })
    const outcome = await translate(['--to', 'DE', '--json'], { stdin: paragraphs(60) })
    const [{ missing, ...printed }] = JSON.parse(outcome.stdout)
    const lost = numbersOf(refused())
    expect(printed).toEqual({ input: '-', text: expect.stringContaining('[DE] '), detected_source_language: 'EN' })
    expect(printed.text.match(/\[DE\]/g)).toHaveLength(60 - lost.length)
    expect(missing.map(({ paragraph }: { paragraph: number }) => paragraph)).toEqual(lost)
    expect(missing[0]).toEqual({ paragraph: lost[0], code: 'HTTP_400', message: expect.stringContaining('The text is not allowed.') })
    const { hint } = lastError(outcome) as { hint: string }
    const record = /--resume (\S+\.resume\.json) .* < TEXT$/.exec(hint)?.[1] ?? ''
    expect(lastError(await translate(['--resume', record, '--json'], { stdin: 'Another text.' })).code).toBe('FILE_CHANGED')
    expect((await translate(['--resume', record], { stdin: paragraphs(60) })).stdout).toBe(translated(paragraphs(60)))
    expect(billed()).toBe(charactersIn(paragraphs(60)))
    await expect(stat(record)).rejects.toThrow('ENOENT')
  })

  it('keeps what it cannot write', async () => {
    const folder = await temporaryFolder()
    const [file, output] = [await put(folder, 'one.txt', 'One.'), join(folder, 'out.txt')]
    let arrived = () => {}
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve
    })
    fake.script({ match: { op: 8 }, do: { delay: arrival.then(() => writeFile(output, 'theirs')) } })
    const running = translate([file, '--to', 'DE', '-o', output])
    await expect.poll(() => fake.requests(8)).toBe(1)
    arrived()
    const failed = await running
    expect([failed.code, failed.stderr]).toEqual([
      6,
      expect.stringMatching(/PATH_EXISTS[\s\S]*continue with: stac-auth translate --resume/),
    ])
    await rm(output)
    expect((await translate(['--resume', `${output}.resume.json`])).code).toBe(0)
    expect([await readFile(output, 'utf8'), fake.requests(8)]).toEqual(['[DE] One.', 1])
  })

  it('sends nothing more once the quota is used up or the key is refused', async () => {
    for (const status of [456, 403]) {
      fake.reset()
      fake.script({ match: { op: 8 }, do: { status } })
      fake.script({ match: { op: 8, nth: 2 }, times: 3, do: { delay: 200 } })
      const outcome = await translate(['--to', 'DE', '--json'], { stdin: paragraphs(1000) })
      expect([outcome.code, fake.requests(8) <= 7]).toEqual([5, true])
    }
  })

  it('is the error of its text where nothing is finished, and leaves no record', async () => {
    const folder = await temporaryFolder()
    const file = await put(folder, 'one.txt', paragraphs(60))
    fake.script({ match: { op: 8 }, times: 2, do: REFUSED })
    const outcome = await translate([file, '--to', 'DE', '--output-dir', folder, '--json'])
    expect([lastError(outcome).code, outcome.stdout, await readdir(folder)]).toEqual(['HTTP_400', '', ['one.txt']])
  })
})

describe('a record', () => {
  /** A command of which the second request fails, and its record. */
  async function unfinished() {
    const folder = await temporaryFolder()
    const file = await put(folder, 'one.txt', paragraphs(60))
    fake.script({ match: { op: 8, nth: 2 }, do: REFUSED })
    await translate([file, '--to', 'DE', '--output-dir', folder])
    fake.reset()
    return { folder, file, output: join(folder, 'one.de.txt'), record: join(folder, 'one.de.txt.resume.json') }
  }

  it('is for the input that it began with', async () => {
    const { file, record } = await unfinished()
    await writeFile(file, 'Another text.')
    const outcome = await translate(['--resume', record, '--json'])
    expect([outcome.code, lastError(outcome).code, fake.requests()]).toEqual([6, 'FILE_CHANGED', 0])
  })

  it('replaces the incomplete output only as it was written', async () => {
    const { output, record } = await unfinished()
    await writeFile(output, 'edited')
    expect(lastError(await translate(['--resume', record, '--json'])).code).toBe('PATH_EXISTS')
    expect([await readFile(output, 'utf8'), fake.requests()]).toEqual(['edited', 0])
  })

  it('is not begun anew by the same command', async () => {
    const { file, folder, record } = await unfinished()
    const again = await translate([file, '--to', 'DE', '--output-dir', folder, '--json'])
    expect(lastError(again)).toMatchObject({ code: 'PATH_EXISTS', hint: expect.stringContaining(`stac-auth translate --resume ${record}`) })
  })

  it.each([
    ['another service', (text: string) => text.replace(/"service": "[^"]*"/, '"service": "https://other.example"')],
    ['damaged texts', (text: string) => text.replace(/"texts": \{/, '"texts": {"x": 1,')],
    ['no inputs', (text: string) => text.replace('"inputs"', '"outputs"')],
    ['the end cut off', (text: string) => text.slice(0, -20)],
  ])('is refused with %s, before anything is sent', async (_what, change) => {
    const { record } = await unfinished()
    await writeFile(record, change(await readFile(record, 'utf8')))
    expect([lastError(await translate(['--resume', record, '--json'])).code, fake.requests()]).toEqual(['CONFIG_INVALID', 0])
  })

  it('takes no inputs and no language besides', async () => {
    const { record, file } = await unfinished()
    for (const more of [[file], ['--to', 'FR'], ['-o', 'x']])
      expect(lastError(await translate(['--resume', record, '--json', ...more])).code).toBe('USAGE')
  })
})

describe('a catalog of which a part fails', () => {
  const keywords = Array.from({ length: 120 }, (_, index) => `word ${index}`)
  const document = JSON.stringify({ type: 'Catalog', id: 'a', title: 'Scenes', description: 'Of `B04`', keywords })

  it('is written with the missing texts as they were, and continued', async () => {
    const folder = await temporaryFolder()
    const [file, output] = [await put(folder, 'catalog.json', document), join(folder, 'catalog.de.json')]
    fake.script({ match: { op: 8, nth: 2 }, do: REFUSED })
    const failed = await translate(['catalog', file, '--to', 'DE', '-o', output, '--json'])
    expect(failed.code).toBe(5)
    const { missing, ...account } = JSON.parse(failed.stdout)
    const lost = refused()
    expect(account).toEqual({ places: 122, sent: 122 - lost.length, characters: expect.any(Number), kept: [] })
    expect(missing).toHaveLength(lost.length)
    expect(missing.at(-1)).toEqual({ pointer: expect.stringMatching(/^\/keywords\/\d+$/), code: 'HTTP_400', message: expect.any(String) })
    const written = JSON.parse(await readFile(output, 'utf8'))
    expect(written.keywords).toEqual(keywords.map((word) => (lost.includes(word) ? word : `[DE] ${word}`)))
    const before = billed()
    const done = await translate(['catalog', '--resume', `${output}.resume.json`, '--json'])
    expect(JSON.parse(done.stdout)).toEqual({
      places: 122,
      sent: lost.length,
      characters: billed() - before,
      kept: [],
      reused: 122 - lost.length,
    })
    expect(JSON.parse(await readFile(output, 'utf8')).keywords).toEqual(keywords.map((word) => `[DE] ${word}`))
    expect((await readdir(folder)).sort()).toEqual(['catalog.de.json', 'catalog.json'])
    fake.assertClean()
  })

  it('is continued from standard input, and by translate alone', async () => {
    fake.script({ match: { op: 8, nth: 2 }, do: REFUSED })
    const failed = await translate(['catalog', '-', '--to', 'DE', '--json'], { stdin: document })
    const record = /--resume (\S+)/.exec(String(lastError(failed).hint))?.[1] ?? ''
    expect(lastError(await translate(['--resume', record, '--json'], { stdin: `${document} ` })).code).toBe('FILE_CHANGED')
    expect(JSON.parse((await translate(['--resume', record], { stdin: document })).stdout).keywords).toHaveLength(120)
    expect(fake.requests(8)).toBe(5)
  })
})

describe('the built program', () => {
  /** Starts it on a text, of which four requests after the fourth wait. */
  async function start(count: number, wait: Promise<unknown> | number) {
    const folder = await temporaryFolder()
    const [file, output] = [await put(folder, 'note.txt', paragraphs(count)), join(folder, 'out.txt')]
    fake.script({ match: { op: 8, nth: 5 }, times: 4, do: { delay: wait } })
    const child = spawn(process.execPath, [PROGRAM, 'translate', file, '--to', 'DE', '-o', output, '--base-url', fake.url], {
      env: { PATH: process.env.PATH, ...env },
    })
    child.stdout?.resume()
    let stderr = ''
    child.stderr?.on('data', (text) => {
      stderr += text
    })
    const record = `${output}.resume.json`
    await expect.poll(() => fake.requests(8), { timeout: 20_000 }).toBe(8)
    await expect.poll(async () => (await readFile(record, 'utf8').catch(() => '')).match(/\[DE\]/g)?.length, { timeout: 20_000 }).toBe(200)
    return { child, output, record, exit: once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>, stderr: () => stderr }
  }

  it.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)('pays for nothing twice after %s', async (signal) => {
    const { child, output, record, exit } = await start(400, new Promise(() => {}))
    child.kill(signal)
    const [code, killed] = await exit
    expect(code ?? killed).toBe({ SIGKILL: 'SIGKILL', SIGINT: 130, SIGTERM: 143 }[signal])
    expect(billed()).toBe(charactersIn(paragraphs(200)))
    fake.script({ match: { op: 8, nth: 9 }, do: {} })
    const { code: done } = await translate(['--resume', record])
    expect([done, await readFile(output, 'utf8')]).toEqual([0, translated(paragraphs(400))])
    expect(billed()).toBe(charactersIn(paragraphs(400)))
    await expect(stat(record)).rejects.toThrow('ENOENT')
  })

  it('keeps the answers of requests that were under way when it was interrupted', async () => {
    const { child, output, record, exit, stderr } = await start(450, 1500)
    child.kill('SIGINT')
    expect(await exit).toEqual([130, null])
    expect(stderr()).toMatch(
      /^error ABORTED: interrupted\n {2}400 of 450 texts are translated and kept; continue with: stac-auth translate --resume /m,
    )
    expect(billed()).toBe(charactersIn(paragraphs(400)))
    expect((await translate(['--resume', record])).code).toBe(0)
    expect([await readFile(output, 'utf8'), billed()]).toEqual([translated(paragraphs(450)), charactersIn(paragraphs(450))])
  })
})

it('a record of others writes nothing outside of its folder', async () => {
  const [folder, home] = [await temporaryFolder(), await temporaryFolder()]
  const victim = await put(home, 'profile', 'old')
  const params = { target_lang: 'DE' }
  const texts = { [memoryKey(fake.url, params, 'x')]: ['evil', 'EN'] }
  const inputs = [{ name: 'text', text: 'x', sha256: hashOf('x'), output: victim, written: hashOf('old') }]
  const record = await put(folder, 'a.resume.json', JSON.stringify({ kind: 'texts', service: fake.url, params, inputs, texts }))
  expect(lastError(await translate(['--resume', record, '--json'])).code).toBe('PATH_UNSAFE')
  expect(await readFile(victim, 'utf8')).toBe('old')
  // Into the temporary folder other users can write too.
  vi.stubEnv('TMPDIR', folder)
  const spare = join(folder, `stac-auth-${randomUUID()}.resume.json`)
  await rename(record, spare)
  const other = vi.spyOn(process, 'getuid').mockReturnValue((process.getuid?.() ?? 0) + 1)
  expect(lastError(await translate(['--resume', spare, '--json'])).code).toBe('PATH_UNSAFE')
  other.mockRestore()
  expect(await translate(['--resume', spare])).toMatchObject({ code: 0 })
  vi.unstubAllEnvs()
})

it('after an error of the quota the other documents are named, not counted as texts', async () => {
  const folder = await temporaryFolder()
  const files = await Promise.all(['a.html', 'b.html', 'c.html'].map((name) => put(folder, name, '<p>Hello</p>')))
  fake.script({ match: { op: 9 }, do: { status: 456, body: { message: 'Quota exceeded' } } })
  const { stderr } = await translate([...files, '--to', 'DE', '--output-dir', folder])
  expect(stderr).toContain('error BATCH_INCOMPLETE: 3 files are not written\n')
  expect(stderr).toContain(`  - HTTP_456: ${files[2]} (not sent): `)
})

describe('--memory', () => {
  it('that cannot be written takes nothing away from what was paid for', async () => {
    const folder = await temporaryFolder()
    const memory = join(await put(folder, 'file', ''), 'memory.json')
    const outcome = await translate(['Hello', '--to', 'DE', '--memory', memory, '--json'])
    expect([JSON.parse(outcome.stdout)[0].text, lastError(outcome).code]).toEqual(['[DE] Hello', 'FILE_ACCESS'])
  })

  it('makes the same command cost nothing, until an option changes the answer', async () => {
    const folder = await temporaryFolder()
    const memory = join(folder, 'new', 'memory.json')
    const first = await translate(['Hello', 'Hello', 'two', '--to', 'DE', '--memory', memory])
    expect([first.stdout, fake.requests(8)]).toEqual(['[DE] Hello\n[DE] Hello\n[DE] two\n', 1])
    const again = await translate(['two', 'Hello', '--to', 'de', '--memory', memory, '--json'])
    expect(JSON.parse(again.stdout)).toEqual([
      { input: 'text', text: '[DE] two', detected_source_language: 'EN' },
      { input: 'text', text: '[DE] Hello', detected_source_language: 'EN' },
    ])
    expect(fake.requests(8)).toBe(1)
    expect((await stat(memory)).mode & 0o777).toBe(0o600)
    const others = [
      ['--to', 'FR'],
      ['--to', 'DE', '--from', 'EN'],
      ['--to', 'DE', '--formality', 'more'],
      ['--to', 'DE', '--context', 'a'],
    ]
    for (const [index, more] of others.entries()) {
      await translate(['Hello', ...more, '--memory', memory])
      expect(fake.requests(8)).toBe(2 + index)
    }
    expect(await readFile(memory, 'utf8')).not.toContain(KEY)
  })

  it('is shared by texts and catalogs, and its account says what was known', async () => {
    const folder = await temporaryFolder()
    const memory = join(folder, 'memory.json')
    const file = await put(folder, 'catalog.json', '{"type":"Catalog","id":"a","title":"Scenes","description":"Of `B04`"}')
    const run1 = await translate(['catalog', file, '--to', 'DE', '--memory', memory])
    const run2 = await translate(['catalog', file, '--to', 'DE', '--memory', memory])
    expect([run2.stdout, run2.stderr]).toEqual([run1.stdout, '2 texts in DE; 0 were sent, 0 characters; 2 were known already\n'])
    await translate(['Scenes', '--to', 'DE', '--memory', memory])
    expect(fake.requests(8)).toBe(2)
  })

  it('keeps what is finished when a part fails', async () => {
    const memory = join(await temporaryFolder(), 'memory.json')
    fake.script({ match: { op: 8, nth: 2 }, do: REFUSED })
    expect((await translate(['--to', 'DE', '--memory', memory], { stdin: paragraphs(60) })).code).toBe(5)
    expect((await translate(['--to', 'DE', '--memory', memory], { stdin: paragraphs(60) })).code).toBe(0)
    expect(billed()).toBe(charactersIn(paragraphs(60)))
  })

  it.each([
    ['text', 'not JSON'],
    ['another document', '{"type":"Catalog"}'],
    ['half of itself', '{"version":1,"texts":{"a":["b"'],
    ['a wrong entry', '{"version":1,"texts":{"a":["b"]}}'],
  ])('that is %s is refused before anything is sent, and stays as it is', async (_what, content) => {
    const memory = await put(await temporaryFolder(), 'memory.json', content)
    const outcome = await translate(['Hello', '--to', 'DE', '--memory', memory, '--json'])
    expect([outcome.code, lastError(outcome).code, fake.requests(), await readFile(memory, 'utf8')]).toEqual([
      2,
      'CONFIG_INVALID',
      0,
      content,
    ])
  })

  it('drops the oldest translations above 32 MiB', async () => {
    const memory = join(await temporaryFolder(), 'memory.json')
    const old = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`old-${index}`, ['x'.repeat(1_000_000), 'EN']]))
    await writeFile(memory, JSON.stringify({ version: 1, texts: old }))
    expect((await translate(['Hello', '--to', 'DE', '--memory', memory])).code).toBe(0)
    const kept = Object.keys(JSON.parse(await readFile(memory, 'utf8')).texts)
    expect([kept[0], kept.length, (await stat(memory)).size < 32 * 1024 * 1024]).toEqual(['old-7', 34, true])
  })
})

describe('a paragraph longer than one request', () => {
  it.each([
    ['sentences', 'This is sentence number one of many — it is long.  '.repeat(6000)],
    ['words without an end of a sentence', 'word '.repeat(60_000)],
    ['one word', 'x'.repeat(300_000)],
    ['characters of several units', '👩‍🚀'.repeat(20_000)],
    ['quotes, which need more bytes', '"" '.repeat(60_000)],
  ])('is sent in pieces and joined exactly: %s', async (_what, text) => {
    const { code, stdout } = await translate(['--to', 'DE', '--text'], { stdin: `Before.\n\n ${text.trim()}\n\nAfter.\n` })
    const sent = fake.log.flatMap(({ body }) => JSON.parse(body).text as string[])
    expect([code, stdout.replaceAll('[DE] ', '')]).toEqual([0, `Before.\n\n ${text.trim()}\n\nAfter.\n`])
    expect(sent.length).toBeGreaterThan(3)
    expect(sent.every((piece) => piece === piece.trim() && piece.isWellFormed())).toBe(true)
    fake.assertClean()
  })
})

it('--output-dir makes its folder, and says why it cannot', async () => {
  const folder = await temporaryFolder()
  const file = await put(folder, 'note.txt', 'Hello')
  const inner = join(folder, 'made', 'here')
  expect((await translate([file, '--to', 'DE', '--output-dir', inner])).code).toBe(0)
  expect(await readFile(join(inner, 'note.de.txt'), 'utf8')).toBe('[DE] Hello')
  const outcome = await translate([file, '--to', 'DE', '--output-dir', join(file, 'below'), '--json'])
  expect([outcome.code, lastError(outcome).code, fake.requests(8)]).toEqual([6, 'FILE_ACCESS', 1])
})
