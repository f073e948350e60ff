import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTranslationFake, type TranslationFake } from '../../servers/translation/translation-fake.ts'
import { put, temporaryFolder } from '../folder.ts'
import { run } from '../run.ts'

let fake: TranslationFake
beforeAll(async () => {
  fake = await startTranslationFake({ queueMs: 0, translateMs: 0 })
})
afterAll(() => fake.close())

/** What a terminal gets while a document of that name is translated. */
async function shown(env: Readonly<Record<string, string>>, name = 'guide.docx'): Promise<string> {
  const folder = await temporaryFolder()
  const document = await put(folder, name, Buffer.from('PK\u0003\u0004 a document'))
  const argv = ['translate', '--base-url', fake.url, document, '--to', 'DE', '--output-dir', folder]
  const { code, stderr } = await run(argv, { isTTY: true, env: { STAC_AUTH_TRANSLATION_KEY: 'test-pro', ...env } })
  expect([code, stderr]).toEqual([0, expect.any(String)])
  return stderr
}

it('shows on a terminal how far a document is, and takes that away', async () => {
  const text = await shown({ TERM: 'xterm' })
  expect(text).toMatch(/\r[^\r]*guide\.docx: \d+( of \d+)? bytes sent\u001b\[K/)
  expect(text).toMatch(/\r\u001b\[J[^\r]*$/)
})

it('keeps to one line of the terminal', async () => {
  const text = await shown({ TERM: 'xterm' }, `${'long'.repeat(40)}.docx`)
  const lines = text.match(/\r[^\r\n]*(?=\u001b\[K)/g) ?? []
  expect(Math.max(...lines.map((line) => line.length))).toBe(80)
})

it('writes no escapes where they are not wanted', async () => {
  expect(await shown({ TERM: 'xterm', NO_COLOR: '1' })).toMatch(/^\r[^\u001b]+bytes sent[^\u001b]+$/)
  expect(await shown({ TERM: 'dumb' })).not.toMatch(/[\r\u001b]/)
})
