import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTranslationFake, type TranslationFake } from '../../servers/translation/translation-fake.ts'
import { put, temporaryFolder } from '../folder.ts'
import { lastError, run } from '../run.ts'

const env = { STAC_AUTH_TRANSLATION_KEY: 'test-pro' }
const folder = await temporaryFolder()
let fake: TranslationFake
beforeAll(async () => {
  fake = await startTranslationFake()
})
beforeEach(() => fake.reset())
afterAll(() => fake.close())

const translate = (words: string, ...more: readonly string[]) =>
  run(['translate', ...words.split(' '), '--base-url', fake.url, ...more], { env })

describe('translate --usage alone', () => {
  it('prints the quota to stdout, and with --json all of it', async () => {
    expect(await translate('--usage')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+ characters, without a limit\n$/),
      stderr: '',
    })
    expect(JSON.parse((await translate('--usage --json')).stdout)).toMatchObject({ character_count: expect.any(Number) })
    expect(fake.log.map(({ path }) => path)).toEqual(['/v2/usage', '/v2/usage'])
    fake.assertClean()
  })
})

describe('translate glossaries', () => {
  it('are created from a file, listed, shown, used and deleted', async () => {
    const file = await put(folder, 'terms.csv', '\ufeffcanopy,Kronendach\r\n"sea, ice",Meereis\r\n')
    const made = await translate('glossaries create', file, '--from', 'en', '--to', 'de')
    const [, id = ''] = /^(\S+) {2}terms {2}en-de \(2\)\n$/.exec(made.stdout) ?? []
    expect([made.code, made.stderr]).toEqual([0, ''])
    expect((await translate('glossaries list')).stdout).toBe(made.stdout)
    expect((await translate(`glossaries get ${id}`)).stdout).toMatch(
      /^glossary_id: \S+\nname: terms\ncreation_time: \S+\nen-de: 2 entries\n$/,
    )
    expect((await translate('canopy --to DE --from EN', '--glossary', id)).stdout).toBe('[DE] Kronendach\n')
    expect(await translate(`glossaries delete ${id}`)).toMatchObject({ code: 0, stdout: '', stderr: 'deleted\n' })
    expect(JSON.parse((await translate('glossaries list --json')).stdout)).toEqual([])
    fake.assertClean()
  })

  it('take tabs from a .tsv file, and a name', async () => {
    const file = await put(folder, 'terms.tsv', 'canopy\tKronendach\n')
    const made = await translate('glossaries create', file, '--from', 'en', '--to', 'de', '--name', 'Forest', '--json')
    expect(JSON.parse(made.stdout)).toMatchObject({
      name: 'Forest',
      dictionaries: [{ source_lang: 'en', target_lang: 'de', entry_count: 1 }],
    })
  })

  it.each([
    ['no languages', 'a,b', [], 'USAGE', 'give --from LANGUAGE and --to LANGUAGE'],
    ['a repeated term', 'a,b\na,c', ['--from', 'en', '--to', 'de'], 'REQUEST_INVALID', 'row 2: the source term is a duplicate'],
  ])('are refused before anything is sent: %s', async (_what, content, more, code, message) => {
    const file = await put(folder, 'wrong.csv', content)
    const outcome = await translate('glossaries create', file, ...more, '--json')
    expect([outcome.code, lastError(outcome)]).toEqual([2, expect.objectContaining({ code, message: expect.stringContaining(message) })])
    expect(fake.requests()).toBe(0)
  })
})

describe('translate style-rules and languages', () => {
  it('list what the account and the service have', async () => {
    expect(await translate('style-rules list')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const { stdout } = await translate('languages list')
    expect(stdout).toMatch(/^de {2}German {2}source, target$/im)
    const glossary = JSON.parse((await translate('languages list --resource glossary --json')).stdout)
    expect(glossary[0]).toMatchObject({ lang: expect.any(String), usable_as_source: expect.any(Boolean) })
    expect(fake.log.at(-1)?.rawUrl).toContain('resource=glossary')
    fake.assertClean()
  })
})

describe('options of translate', () => {
  it('that a subcommand does not use are refused', async () => {
    const outcome = await translate('languages list --formality more --json')
    expect([outcome.code, lastError(outcome).message]).toEqual([2, 'translate languages list does not support --formality'])
    expect(fake.requests()).toBe(0)
  })

  it('are completed for its subcommands, with those that it parses', async () => {
    const { stdout } = await run(['complete', 'fish', '--', 'translate', 'catalog', '--m'])
    expect(stdout).toMatch(/^--memory\t/)
    expect((await run(['complete', 'fish', '--', 'translate', 'glossaries', 'l'])).stdout).toMatch(/^list\t/)
  })

  it('name a service by a variable, which is encrypted unless --allow-insecure is given', async () => {
    const around = { env: { ...env, STAC_AUTH_TRANSLATION_URL: fake.url } }
    const outcome = await run(['translate', 'Hello', '--to', 'DE', '--json'], around)
    expect([outcome.code, lastError(outcome)]).toEqual([
      4,
      expect.objectContaining({ code: 'URL_INSECURE', hint: expect.stringContaining('--allow-insecure') }),
    ])
    expect(fake.requests()).toBe(0)
    expect((await run(['translate', 'Hello', '--to', 'DE', '--allow-insecure'], around)).stdout).toBe('[DE] Hello\n')
    const elsewhere = ['translate', 'Hello', '--to', 'DE', '--allow-insecure', '--base-url', 'http://words.example']
    expect((await run(elsewhere, { env })).code).toBe(4)
  })
})
