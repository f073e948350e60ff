import { describe, expect, it } from 'vitest'
import { bashLines, bashWords } from '../../src/cli/commands/completion.ts'
import { put, temporaryFolder } from './folder.ts'
import { run } from './run.ts'
import { COMPLETED, typedAt, WEIRD } from './shells.ts'

const folder = await temporaryFolder()
const item = await put(folder, 'item.json', {
  ...WEIRD,
  links: [
    { rel: 'next', href: 'x' },
    { rel: 'next', href: 'y' },
    { rel: 'self', href: 'z' },
  ],
  assets: {
    ...WEIRD.assets,
    B04: { href: 'x', type: 'image/tiff\u001b[2J', alternate: { s3: { href: 'y' } } },
  },
})
const list = await put(folder, 'list.json', { type: 'FeatureCollection', features: [WEIRD, { assets: { B8A: {} } }] })
const credentials = await put(folder, 'credentials.json', { version: 1, credentials: [{ id: 'portal', type: 'http' }, { id: 'other' }] })
const complete = async (...words: string[]) => (await run(['complete', 'zsh', '--', ...words])).stdout.trimEnd().split('\n')
const values = async (...words: string[]) => (await complete(...words)).map((line) => line.replace(/\t.*/, ''))

describe('complete', () => {
  it('knows the commands, but not itself', async () => {
    const all = await values('')
    expect(all).toEqual(expect.arrayContaining(['lint', 'authorize', 'credentials', 'completion', 'help']))
    expect(all).not.toContain('complete')
    expect(await complete('fe')).toEqual(['fetch\tsend the authorized request and write the body to stdout or a file'])
    expect(await values('credentials', 'tr')).toEqual(['trust'])
  })

  it('knows the options of a command that are not given yet, and none after --', async () => {
    expect(await values('fetch', item, '--a')).toEqual(['--asset', '--alternate', '--accept-html'])
    expect(await values('fetch', '--asset', 'x', '--asset=y', '--as')).toEqual([''])
    expect(await values('lint', '--rule', 'a=off', '--ru')).toEqual(['--rule'])
    expect(await values('lint', '--', '--ru')).toEqual([''])
  })

  it.each([
    [['authorize', 'x', '--as', 'py'], ['python']],
    [['authorize', 'x', '--as=py'], ['--as=python']],
    [['lint', '--format', 'js'], ['json']],
    [['lint', '--rule', 'dangling'], ['dangling-ref=']],
    [['rules', 'dangling'], ['dangling-ref']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['fetch', item, '--asset', 'B'], ['B04']],
    [['fetch', '--asset', 'B'], ['']],
    [['fetch', item, '--alternate', ''], ['B04/s3']],
    [
      ['fetch', item, '--link', ''],
      ['next', 'self'],
    ],
    [
      ['download', list, item, '--asset', 'B'],
      ['B8A', 'B04'],
    ],
    [
      ['login', '--credentials', credentials, ''],
      ['portal', 'other'],
    ],
    [['credentials', 'trust', '--credentials', credentials, 'p'], ['portal']],
    [['fetch', 'https://data.example/item.json', '--asset', ''], ['']],
    [['fetch', folder, '--asset', ''], ['']],
    [['fetch', ''], ['']],
  ])('%j is completed by %j', async (words, expected) => {
    expect(await values(...words)).toEqual(expected)
  })

  it('offers no key that is more than one line, and nothing that a terminal obeys', async () => {
    const lines = await complete('fetch', item, '--asset', '')
    expect(lines).toEqual(['o b;touch pwned', "q'uote", '$(touch pwned)', 'a:b=c', 'plain', 'B04\timage/tiff\\u{1b}[2J'])
  })

  it('reports nothing about files that it cannot read', async () => {
    const broken = await put(folder, 'broken.json', '{')
    for (const name of [broken, '/nowhere/x.json', '/dev/null']) expect(await values('fetch', name, '--asset', '')).toEqual([''])
    expect(await values('logout', '--credentials', broken, '')).toEqual([''])
  })
})

describe('bashWords', () => {
  it.each([
    ['stac-auth fetch it', ['fetch', 'it'], 'it'],
    ['stac-auth fetch ', ['fetch', ''], ''],
    [`./bin/stac-auth fetch 'a b' "c\\"d"e\\ f`, ['fetch', 'a b', 'c"de f'], `"c\\"d"e\\ f`],
    [`stac-auth fetch 'open qu`, ['fetch', 'open qu'], `'open qu`],
    ['stac-auth --as=cu', ['--as=cu'], '--as=cu'],
  ])('reads %j', (line, words, typed) => {
    expect(bashWords(line)).toEqual({ words, typed })
  })
})

describe('bashLines', () => {
  const lines = (value: string, typed: string, part = typed) => bashLines([{ value, description: '' }], typed, part)

  it.each([
    ["a b'$(x);é", 'a', '', "a\\ b\\'\\$\\(x\\)\\;\\é\n"],
    ['--as=curl', '--as=c', 'c', 'curl\n'],
    ['--as=curl', '--as=', '=', 'curl\n'],
    ['https://x/y', 'https://x', '//x', '//x/y\n'],
    ['a b', "'a", "'a", 'a b\n'],
    ["a'b", "'a", "'a", ''],
    ['a$b', '"a', '"a', ''],
  ])('inserts %j after %j', (value, typed, part, expected) => {
    expect(lines(value, typed, part || typed)).toBe(expected)
  })
})

describe('bash', () => {
  it.each(COMPLETED)('%j runs what is completed', async (typed, printed) => {
    const { screen, files } = await typedAt('bash', typed)
    expect(screen).toContain(printed)
    expect(files).not.toContain('pwned')
  })
})
