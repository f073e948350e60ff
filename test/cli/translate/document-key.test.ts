import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTranslationFake, type TranslationFake } from '../../servers/translation/translation-fake.ts'
import { put, temporaryFolder } from '../folder.ts'
import { lastError, run } from '../run.ts'

const KEY = 'test-pro'
const WORD = Buffer.from('PK\u0003\u0004 a document')
let fake: TranslationFake
beforeAll(async () => {
  fake = await startTranslationFake({ queueMs: 0, translateMs: 0 })
})
beforeEach(() => fake.reset())
afterEach(() => vi.unstubAllEnvs())
afterAll(() => fake.close())

/** The command with a key. */
async function translate(argv: readonly string[]) {
  const outcome = await run(['translate', '--base-url', fake.url, ...argv], { env: { STAC_AUTH_TRANSLATION_KEY: KEY } })
  expect(outcome.stdout + outcome.stderr).not.toContain(KEY)
  fake.assertClean()
  return outcome
}

describe('the key of a document', () => {
  it('the key of a document that waits to be fetched is never replaced by that of another', async () => {
    const own = await temporaryFolder()
    const document = await put(own, 'guide.docx', WORD)
    const kept = await put(own, 'guide.de.docx.handle.json', '{"document_key":"theirs"}')
    const refused = await translate([document, '--to', 'DE', '--output-dir', own])
    expect(refused.stderr).toContain(`stac-auth translate --resume ${kept}`)
    expect(refused.stderr).toContain('PATH_EXISTS')
    expect(await readFile(kept, 'utf8')).toBe('{"document_key":"theirs"}')
    expect(fake.requests()).toBe(0)
  })

  it('needs a place before the upload, which another process may have taken', async () => {
    const own = await temporaryFolder()
    const document = await put(own, 'guide.docx', WORD)
    await put(own, 'guide.de.docx.handle.json.part', '')
    expect(lastError(await translate([document, '--to', 'DE', '--output-dir', own, '--json']))).toMatchObject({ code: 'PATH_BUSY' })
    expect(fake.requests()).toBe(0)
  })

  it('the key of a document that came while others were translated is not replaced either', async () => {
    const own = await temporaryFolder()
    const inputs = [await put(own, 'note.txt', 'Hello'), await put(own, 'guide.docx', WORD)]
    const kept = join(own, 'guide.de.docx.handle.json')
    const { stderr } = await meanwhile(own, inputs, 8, () => writeFile(kept, '{"document_key":"theirs"}'))
    expect(stderr).toContain('PATH_EXISTS')
    expect(await readFile(kept, 'utf8')).toBe('{"document_key":"theirs"}')
    expect(fake.requests(9)).toBe(0)
    expect((await readdir(own)).sort()).toEqual(['guide.de.docx.handle.json', 'guide.docx', 'note.de.txt', 'note.txt'])
  })

  it('the key of a document is used at once when its place is lost in the meantime', async () => {
    const own = await temporaryFolder()
    const document = await put(own, 'guide.docx', WORD)
    const { code, stderr } = await meanwhile(own, [document], 9, () => takePlace(own))
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^warning HANDLE_ELSEWHERE: cannot write /) })
    expect((await readdir(own)).sort()).toEqual(['guide.de.docx', 'guide.de.docx.handle.json', 'guide.docx'])
    expect(fake.requests(9)).toBe(1)
  })

  it.each(['text', 'json'])(
    'a document key is kept elsewhere when its file is lost and the download breaks off, reported as %s',
    async (form) => {
      const own = await temporaryFolder()
      const spare = await temporaryFolder()
      vi.stubEnv('TMPDIR', spare)
      const document = await put(own, 'guide.docx', WORD)
      fake.script({ match: { op: 11 }, do: { truncate: 3 } })
      const { code, stderr } = await meanwhile(own, [document], 9, () => takePlace(own), ...(form === 'json' ? ['--json'] : []))
      const [kept = ''] = await readdir(spare)
      expect(code).toBe(5)
      expect(stderr).toContain(join(spare, kept))
      expect((await stat(join(spare, kept))).mode & 0o777).toBe(0o600)
      expect(stderr).not.toContain((JSON.parse(await readFile(join(spare, kept), 'utf8')) as { document_key: string }).document_key)
      expect(await translate(['--resume', join(spare, kept)])).toMatchObject({ code: 0 })
      expect([await readdir(spare), (await readdir(own)).includes('guide.de.docx')]).toEqual([[], true])
      expect(fake.requests(9)).toBe(1)
    },
  )

  it('the key of a document that no one can keep is used all the same', async () => {
    const own = await temporaryFolder()
    vi.stubEnv('TMPDIR', await put(own, 'no-folder', ''))
    const document = await put(own, 'guide.docx', WORD)
    expect(await meanwhile(own, [document], 9, () => takePlace(own))).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^warning HANDLE_LOST: .* cannot be fetched after an/),
    })
  })

  it('the key of a document that the service does not know is not said to be worked on', async () => {
    const own = await temporaryFolder()
    const record = { service: fake.url, output: join(own, 'a.docx'), document_id: 'A'.repeat(32), document_key: 'B'.repeat(64) }
    const kept = await put(own, 'a.docx.handle.json', record)
    const { code, stderr } = await translate(['--resume', kept])
    expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringContaining(`remove ${kept} and translate it again`) })
    expect(stderr).not.toContain('goes on with it')
    expect(await readdir(own)).toEqual(['a.docx.handle.json'])
  })

  it.each([[['guide.docx']], [['--output-dir', '.']], [['--text']]])('the key of a document is used for nothing else: %s', async (more) => {
    const outcome = await translate(['--resume', 'a.handle.json', ...more, '--json'])
    expect([outcome.code, lastError(outcome).code, fake.requests()]).toEqual([2, 'USAGE', 0])
  })

  it('the key of a document is kept when the download breaks off, which may be tried again', async () => {
    const own = await temporaryFolder()
    const document = await put(own, 'guide.docx', WORD)
    fake.script({ match: { op: 11 }, do: { truncate: 3 } })
    const broken = await translate([document, '--to', 'DE', '--output-dir', own])
    const kept = join(own, 'guide.de.docx.handle.json')
    expect(broken.stderr).toContain('RESPONSE_TRUNCATED')
    expect(broken.stderr).toContain(`may still have it; try to fetch it again with: stac-auth translate --resume ${kept}`)
    expect(await translate(['--resume', kept])).toMatchObject({ code: 0 })
    expect((await readdir(own)).sort()).toEqual(['guide.de.docx', 'guide.docx'])
    expect(fake.requests(9)).toBe(1)
  })
})

/** Translates files while requests of that operation wait, does something, and lets them go. */
async function meanwhile(own: string, inputs: readonly string[], operation: number, act: () => Promise<unknown>, ...more: string[]) {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  fake.script({ match: { op: operation }, do: { delay: gate } })
  const running = translate([...inputs, '--to', 'DE', '--output-dir', own, ...more])
  await expect.poll(() => fake.requests(operation)).toBe(1)
  await act()
  open()
  return running
}

/** A folder of that name takes no file. */
const takePlace = (own: string) => mkdir(join(own, 'guide.de.docx.handle.json', 'x'), { recursive: true })
