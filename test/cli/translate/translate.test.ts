import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTranslationFake, type TranslationFake } from '../../servers/translation/translation-fake.ts'
import { put, temporaryFolder } from '../folder.ts'
import { lastError, run, type Surroundings } from '../run.ts'

const KEY = 'test-pro'
const WORD = Buffer.from('PK\u0003\u0004 a document')
const folder = await temporaryFolder()
let fake: TranslationFake
beforeAll(async () => {
  fake = await startTranslationFake({ queueMs: 0, translateMs: 0 })
})
beforeEach(() => fake.reset())
afterAll(() => fake.close())

/** The command with a key, unless the environment says otherwise. */
async function translate(argv: readonly string[], around: Surroundings = {}) {
  const outcome = await run(['translate', '--base-url', fake.url, ...argv], { env: { STAC_AUTH_TRANSLATION_KEY: KEY }, ...around })
  expect(outcome.stdout + outcome.stderr).not.toContain(KEY)
  fake.assertClean()
  return outcome
}

describe('texts', () => {
  it('texts are translated together, one line each', async () => {
    const { code, stdout, stderr } = await translate(['Hello', 'two words', '--to', 'DE', '--formality', 'more', '--from', 'en'])
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '[DE] Hello\n[DE] two words\n', stderr: '' })
    expect(fake.log.map(({ body }) => JSON.parse(body))).toEqual([
      { target_lang: 'DE', source_lang: 'en', formality: 'more', text: ['Hello', 'two words'] },
    ])
  })

  it('texts come from standard input, paragraph by paragraph', async () => {
    const { stdout } = await translate(['--to', 'DE'], { stdin: ' One\ntwo.\n\n \r\nThree\n' })
    expect(stdout).toBe(' [DE] One\ntwo.\n\n \r\n[DE] Three\n')
  })

  it('texts come from files, unless they are meant to be texts', async () => {
    const file = await put(folder, 'note.txt', 'Hello\n')
    expect((await translate([file, '--to', 'DE'])).stdout).toBe('[DE] Hello\n')
    expect((await translate([file, '--to', 'DE', '--text'])).stdout).toBe(`[DE] ${file}\n`)
    const { code, stdout } = await translate([file, '--to', 'DE', '--output-dir', folder])
    expect({ code, stdout, written: await readFile(join(folder, 'note.de.txt'), 'utf8') }).toEqual({
      code: 0,
      stdout: '',
      written: '[DE] Hello\n',
    })
    expect(lastError(await translate([file, '--to', 'DE', '--output-dir', folder, '--json']))).toMatchObject({ code: 'PATH_EXISTS' })
  })

  it.each(['nofile.docx', 'nofile.PDF', 'no such/file.xlsx', 'my notes.txt', 'nofile.html ', './nofile.srt'])(
    'refuses to bill the name of a document that is not there: %s',
    async (name) => {
      for (const names of [[name], ['Hello', name]]) {
        const outcome = await translate([...names, '--to', 'DE', '--json'])
        expect([outcome.code, outcome.stdout, fake.log]).toEqual([6, '', []])
        expect(lastError(outcome)).toMatchObject({ code: 'FILE_ACCESS', hint: expect.stringContaining('--text') })
      }
      expect((await translate([name, '--to', 'DE', '--text'])).stdout).toBe(`[DE] ${name}\n`)
    },
  )

  it('translates sentences that only mention a file name', async () => {
    const sentence = 'Open guide.docx and read it.'
    expect((await translate([sentence, 'Version 1.2', '--to', 'DE'])).stdout).toBe(`[DE] ${sentence}\n[DE] Version 1.2\n`)
  })

  it('texts are one JSON value with --json, and --usage tells people the quota', async () => {
    const { stdout } = await translate(['de: Hallo', '--to', 'EN-GB', '--json', '--usage'])
    expect(JSON.parse(stdout)).toEqual([{ input: 'text', text: '[EN-GB] de: Hallo', detected_source_language: 'DE' }])
    expect(fake.log.map(({ path }) => path)).toEqual(['/v2/translate'])
    expect((await translate(['a', '--to', 'DE', '--usage'])).stderr).toMatch(/^usage: \d+/)
  })
})

describe('what is wrong', () => {
  const cases: readonly (readonly [what: string, argv: readonly string[], env: Record<string, string>, code: string, exit: number])[] = [
    ['no language', ['a'], { STAC_AUTH_TRANSLATION_KEY: KEY }, 'USAGE', 2],
    ['a glossary without --from', ['a', '--to', 'DE', '--glossary', 'g'], { STAC_AUTH_TRANSLATION_KEY: KEY }, 'REQUEST_INVALID', 2],
    ['two outputs', ['a', 'b', '--to', 'DE', '-o', 'x'], { STAC_AUTH_TRANSLATION_KEY: KEY }, 'USAGE', 2],
    ['a wrong key', ['a', '--to', 'DE'], { STAC_AUTH_TRANSLATION_KEY: 'wrong-key' }, 'HTTP_403', 3],
    ['no key', ['a', '--to', 'DE'], {}, 'NO_CREDENTIAL', 3],
  ]
  it.each(cases)('%s', async (_what, argv, env, code, exit) => {
    const outcome = await translate([...argv, '--json'], { env })
    expect({ code: lastError(outcome).code, exit: outcome.code, stdout: outcome.stdout }).toEqual({ code, exit, stdout: '' })
    expect(outcome.stderr).not.toContain('wrong-key')
  })

  it('a glossary without a source language is reported with the option that is missing', async () => {
    const { stderr } = await translate(['a', '--to', 'DE', '--glossary', 'g'], { env: { STAC_AUTH_TRANSLATION_KEY: KEY } })
    expect(stderr).toBe('error REQUEST_INVALID: a glossary needs the source language; nothing was sent\n  give --from LANGUAGE\n')
  })

  it('what is wrong is reported with the ways that this command has', async () => {
    const hint = async (...argv: string[]) => lastError(await run(['translate', 'a', '--to', 'DE', '--json', ...argv])).hint
    expect(await hint()).toBe(
      'set STAC_AUTH_TRANSLATION_KEY, or run stac-auth credentials trust ID https://api.deepl.com/ with the id of the credential for this service',
    )
    expect(await hint('--base-url', 'http://words.example')).toBe('use https:; http: is only allowed for a service on this machine')
  })
})

describe('the key', () => {
  it('the key may be an entry of the credential file that is for the service', async () => {
    const entry = { id: 'words', type: 'apiKey', in: 'header', name: 'Authorization', prefix: 'DeepL-Auth-Key', value: { env: 'WORDS' } }
    const file = async (sendTo: string) => put(folder, 'credentials.json', { version: 1, credentials: [{ ...entry, sendTo: [sendTo] }] })
    vi.stubEnv('WORDS', KEY)
    const env = { STAC_AUTH_CREDENTIALS: await file(`${fake.url}/`) }
    expect(await translate(['Hello', '--to', 'DE'], { env })).toMatchObject({ stdout: '[DE] Hello\n', stderr: '' })
    await file('https://elsewhere.example/')
    expect(await translate(['Hello', '--to', 'DE'], { env })).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('NO_CREDENTIAL'),
    })
    vi.unstubAllEnvs()
    expect(fake.requests(8)).toBe(1)
  })
})

describe('documents', () => {
  it('documents become new files, and leave nothing else', async () => {
    const own = await temporaryFolder()
    const file = await put(own, 'guide.docx', WORD)
    const { code, stdout } = await translate([file, '--to', 'DE', '--output-dir', own, '--json'])
    const output = join(own, 'guide.de.docx')
    expect({ code, outcome: JSON.parse(stdout) }).toEqual({
      code: 0,
      outcome: [{ input: file, output, billed_characters: expect.any(Number) }],
    })
    expect((await stat(output)).size).toBeGreaterThan(0)
    expect((await readdir(own)).sort()).toEqual(['guide.de.docx', 'guide.docx'])
    expect(fake.requests(9)).toBe(1)
  })

  it('documents need a place to go to before anything is sent', async () => {
    const file = await put(folder, 'a.docx', WORD)
    expect(lastError(await translate([file, '--to', 'DE', '--json'])).code).toBe('USAGE')
    expect(lastError(await translate([file, '--to', 'DE', '-o', file, '--json'])).code).toBe('PATH_EXISTS')
    expect(fake.requests()).toBe(0)
  })

  it('documents that are interrupted can be fetched later, by a private file that nothing prints', async () => {
    const own = await temporaryFolder()
    const file = await put(own, 'guide.docx', WORD)
    const output = join(own, 'out.docx')
    const waiting = await startTranslationFake({ queueMs: 60_000, translateMs: 60_000 })
    try {
      const env = { STAC_AUTH_TRANSLATION_KEY: KEY }
      const service = ['translate', '--base-url', waiting.url]
      const interruption = new AbortController()
      const running = run([...service, file, '--to', 'DE', '-o', output], { env, signal: interruption.signal })
      await expect.poll(() => waiting.requests(10)).toBeGreaterThan(0)
      interruption.abort('SIGINT')
      const stopped = await running
      expect(stopped.code).toBe(130)
      expect((await readdir(own)).sort()).toEqual(['guide.docx', 'out.docx.handle.json'])
      const kept = `${output}.handle.json`
      expect((await stat(kept)).mode & 0o777).toBe(0o600)
      const { document_key } = JSON.parse(await readFile(kept, 'utf8'))
      expect(document_key).toMatch(/./)
      expect(stopped.stdout + stopped.stderr).not.toContain(document_key)
      expect(stopped.stderr).toContain(`stac-auth translate --resume ${kept}`)
      const other = await run(['translate', '--base-url', fake.url, '--resume', kept, '--json'], { env })
      expect(lastError(other)).toMatchObject({ code: 'CONFIG_INVALID' })
      expect(fake.requests()).toBe(0)
      waiting.clock.advance(120_000)
      expect(await run([...service, '--resume', kept], { env })).toMatchObject({ code: 0 })
      expect((await readdir(own)).sort()).toEqual(['guide.docx', 'out.docx'])
      expect(waiting.requests(9)).toBe(1)
      waiting.assertClean()
    } finally {
      await waiting.close()
    }
  })
})

describe('several outputs', () => {
  it('several outputs are all looked at before anything is paid for', async () => {
    const own = await temporaryFolder()
    const [one, other] = [await put(own, 'one.txt', 'One'), await put(own, 'other.txt', 'Other')]
    await put(own, 'other.de.txt', 'theirs')
    expect(lastError(await translate([one, other, '--to', 'DE', '--output-dir', own, '--json']))).toMatchObject({ code: 'PATH_EXISTS' })
    const inner = await temporaryFolder()
    const twin = await put(inner, 'one.txt', 'Another')
    const { code, stderr } = await translate([one, twin, '--to', 'DE', '--output-dir', own])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/would both be written to .*one\.de\.txt/) })
    expect((await readdir(own)).sort()).toEqual(['one.txt', 'other.de.txt', 'other.txt'])
    expect(fake.requests()).toBe(0)
  })

  it('several outputs that were written are reported with --json, also when a later one fails', async () => {
    const own = await temporaryFolder()
    const file = await put(own, 'note.txt', 'Hello')
    const document = await put(own, 'guide.docx', WORD)
    fake.script({ match: { op: 9 }, do: { status: 456 } })
    const outcome = await translate([file, document, '--to', 'DE', '--output-dir', own, '--json'])
    expect(outcome.code).not.toBe(0)
    expect(JSON.parse(outcome.stdout)).toEqual([
      { input: file, output: join(own, 'note.de.txt'), detected_source_language: expect.any(String) },
    ])
    expect(lastError(outcome)).toMatchObject({ code: 'HTTP_456' })
    expect((await readdir(own)).sort()).toEqual(['guide.docx', 'note.de.txt', 'note.txt'])
  })
})

it('a document cannot have --context, which only texts have', async () => {
  const document = await put(folder, 'context.docx', WORD)
  expect(lastError(await translate([document, '--to', 'DE', '--output-dir', folder, '--context', 'a', '--json']))).toMatchObject({
    code: 'USAGE',
  })
  expect(fake.requests()).toBe(0)
})
