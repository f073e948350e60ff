import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
afterAll(() => fake.close())

/** The command with a key. */
async function translate(argv: readonly string[]) {
  const outcome = await run(['translate', '--base-url', fake.url, ...argv], { env: { STAC_AUTH_TRANSLATION_KEY: KEY } })
  expect(outcome.stdout + outcome.stderr).not.toContain(KEY)
  fake.assertClean()
  return outcome
}

describe('the key of a document', () => {
  it('that waits to be fetched is never replaced by that of another', async () => {
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

  it('that came while others were translated is not replaced either', async () => {
    const own = await temporaryFolder()
    const inputs = [await put(own, 'note.txt', 'Hello'), await put(own, 'guide.docx', WORD)]
    const { gate, open } = gateway()
    fake.script({ match: { op: 8 }, do: { delay: gate } })
    const running = translate([...inputs, '--to', 'DE', '--output-dir', own])
    await expect.poll(() => fake.requests(8)).toBe(1)
    const kept = await put(own, 'guide.de.docx.handle.json', '{"document_key":"theirs"}')
    open()
    expect((await running).stderr).toContain('PATH_EXISTS')
    expect(await readFile(kept, 'utf8')).toBe('{"document_key":"theirs"}')
    expect(fake.requests(9)).toBe(0)
    expect((await readdir(own)).sort()).toEqual(['guide.de.docx.handle.json', 'guide.docx', 'note.de.txt', 'note.txt'])
  })

  it('is used at once when its place is lost in the meantime', async () => {
    const own = await temporaryFolder()
    const document = await put(own, 'guide.docx', WORD)
    const { gate, open } = gateway()
    fake.script({ match: { op: 9 }, do: { delay: gate } })
    const running = translate([document, '--to', 'DE', '--output-dir', own])
    await expect.poll(() => fake.requests(9)).toBe(1)
    // A folder of that name takes no file.
    await mkdir(join(own, 'guide.de.docx.handle.json', 'x'), { recursive: true })
    open()
    const { code, stderr } = await running
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^cannot write .*: the document is uploaded, but cannot be/),
    })
    expect((await readdir(own)).sort()).toEqual(['guide.de.docx', 'guide.de.docx.handle.json', 'guide.docx'])
    expect(fake.requests(9)).toBe(1)
  })

  it('is kept when the download breaks off, which may be tried again', async () => {
    const own = await temporaryFolder()
    const document = await put(own, 'guide.docx', WORD)
    fake.script({ match: { op: 11 }, do: { truncate: 3 } })
    const broken = await translate([document, '--to', 'DE', '--output-dir', own])
    const kept = join(own, 'guide.de.docx.handle.json')
    expect(broken.stderr).toContain('RESPONSE_TRUNCATED')
    expect(broken.stderr).toContain(`may have kept it; try to fetch it again with: stac-auth translate --resume ${kept}`)
    expect(await translate(['--resume', kept])).toMatchObject({ code: 0 })
    expect((await readdir(own)).sort()).toEqual(['guide.de.docx', 'guide.docx'])
    expect(fake.requests(9)).toBe(1)
  })
})

function gateway() {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  return { gate, open: () => open() }
}
