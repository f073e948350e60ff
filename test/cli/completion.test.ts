import { describe, expect, it } from 'vitest'
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
    ['authorize x --as py', 'python'],
    ['authorize x --as=py', '--as=python'],
    ['lint --format js', 'json'],
    ['lint --rule dangling-r', 'dangling-ref='],
    ['rules dangling-r', 'dangling-ref'],
    ['completion ', 'bash zsh fish'],
    [`fetch ${item} --asset B`, 'B04'],
    ['fetch --asset B', ''],
    [`fetch ${item} --alternate `, 'B04/s3'],
    [`fetch ${item} --link `, 'next self'],
    [`download ${list} ${item} --asset B`, 'B8A B04'],
    [`login --credentials ${credentials} `, 'portal other'],
    [`credentials trust --credentials ${credentials} p`, 'portal'],
    [`credentials remove --credentials ${credentials} p`, 'portal'],
    ['fetch https://data.example/item.json --asset ', ''],
    [`fetch ${folder} --asset `, ''],
    ['fetch ', ''],
  ])('%j is completed by %j', async (line, expected) => {
    expect(await values(...line.split(' '))).toEqual(expected.split(' '))
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

describe('bash', () => {
  it.each(COMPLETED)('%j runs what is completed', async (typed, printed) => {
    const { screen, files } = await typedAt('bash', typed)
    expect(screen).toContain(printed)
    expect(files).not.toContain('pwned')
  })
})
