import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTranslationFake, type TranslationFake } from '../../servers/translation/translation-fake.ts'
import { put, temporaryFolder } from '../folder.ts'
import { lastError, run } from '../run.ts'

const env = { STAC_AUTH_TRANSLATION_KEY: 'test-pro' }
const folder = await temporaryFolder()
const file = await put(folder, 'catalog.json', '{"type":"Catalog","id":"a","title":"Scenes","description":"Of `B04`"}\n')
let fake: TranslationFake
beforeAll(async () => {
  fake = await startTranslationFake()
})
afterAll(async () => {
  await fake.close()
  fake.assertClean()
})
const catalog = (...argv: string[]) => run(['translate', 'catalog', ...argv, '--base-url', fake.url], { env })

it('a copy is sent to stdout, what was done to stderr', async () => {
  const { code, stdout, stderr } = await catalog(file, '--to', 'DE')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\{"type":"Catalog","id":"a","title":"\[DE\] Scenes","description":"\[DE\] Of `B04`","language":\{"code":"de"\}/)
  expect(stderr).toBe('2 texts in DE; 2 were sent, 27 characters\n')
})

it('a copy is sent to a new file, its account to stdout', async () => {
  const output = join(folder, 'catalog.de.json')
  const { stdout } = await catalog(file, '--to', 'DE', '-o', output, '--json')
  expect(JSON.parse(stdout)).toEqual({ places: 2, sent: 2, characters: 27, kept: [] })
  expect(await readFile(output, 'utf8')).toContain('"title":"[DE] Scenes"')
  expect(lastError(await catalog(file, '--to', 'DE', '-o', output, '--json'))).toMatchObject({ code: 'PATH_EXISTS' })
})

it('what is no catalog is refused, and a language is needed', async () => {
  const other = await put(folder, 'other.json', '{"type":"Polygon"}')
  expect(lastError(await catalog(other, '--to', 'DE', '--json'))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
  expect(lastError(await catalog(file, '--json'))).toMatchObject({ code: 'USAGE' })
  expect(lastError(await catalog(file, '--to', 'DE', '--text', '--json'))).toMatchObject({ code: 'USAGE' })
})

it('a place that cannot be written is told before anything is paid for', async () => {
  const before = fake.requests()
  for (const [output, code] of [
    [file, 'PATH_EXISTS'],
    [join(folder, 'missing', 'a.json'), 'FILE_ACCESS'],
  ] as const)
    expect(lastError(await catalog(file, '--to', 'DE', '-o', output, '--json'))).toMatchObject({ code })
  expect(fake.requests()).toBe(before)
})
