import { dirname } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, KEY_SCHEME, keyFor } from './items.ts'
import { run, type Surroundings } from './run.ts'

const SECRET = 'hunter2-hunter2'
const folder = await temporaryFolder()
const credentials = await put(folder, 'credentials.json', keyFor('https://data.example/'))
const authorizeAll = (argv: readonly string[], around: Surroundings = {}) =>
  run(['authorize', '--as', 'ndjson', '--credentials', credentials, ...argv], around)

const ndjson = (...values: readonly unknown[]) =>
  values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n')
const lines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

const asset = (href: string, more: object = {}) => ({ href, 'auth:refs': ['key'], ...more })
const item = (id: string, assets: object) => ({ ...itemWith(assets), id, collection: 'scenes' })
const one = item('one', {
  B04: asset('https://data.example/1/B04.tif'),
  thumb: { href: 'https://public.example/1.png', roles: ['thumbnail'] },
})
const two = item('two', { B04: asset('https://data.example/2/B04.tif'), evil: asset('https://evil.example/B04.tif') })
const request = (id: string, url: string, value = SECRET) => ({
  id,
  collection: 'scenes',
  asset: 'B04',
  method: 'GET',
  url,
  headers: { 'x-api-key': value },
  ref: 'key',
  scheme: 'apiKey',
  credential: 'portal',
})

beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', SECRET))
afterEach(() => vi.unstubAllEnvs())

describe('authorize --as ndjson', () => {
  it('prints a request for each asset of the documents on stdin, in their order', async () => {
    const { code, stdout, stderr } = await authorizeAll(['--reveal', '--asset', 'B04'], { stdin: ndjson(one, two) })
    expect([code, stderr]).toEqual([0, '2 requests, 0 errors\n'])
    expect(lines(stdout)).toEqual([request('one', 'https://data.example/1/B04.tif'), request('two', 'https://data.example/2/B04.tif')])
  })

  it('hides secrets unless asked to reveal them', async () => {
    const { code, stdout, stderr } = await authorizeAll([await put(folder, 'one.json', one), '--asset', 'B04'])
    expect(code).toBe(0)
    expect(lines(stdout)).toEqual([request('one', 'https://data.example/1/B04.tif', '[secret]')])
    expect(stdout + stderr).not.toContain(SECRET)
    expect(stderr).toBe('1 request, 0 errors; secrets are hidden: --reveal shows them\n')
  })

  it('prints the error of an asset in its place, and ends with its exit code', async () => {
    const { code, stdout, stderr } = await authorizeAll(['--reveal'], { stdin: ndjson(two, one) })
    expect([code, stderr]).toEqual([4, '3 requests, 1 error\n'])
    expect(lines(stdout)).toEqual([
      request('two', 'https://data.example/2/B04.tif'),
      {
        id: 'two',
        collection: 'scenes',
        asset: 'evil',
        error: expect.objectContaining({ code: 'CREDENTIAL_TARGET_UNTRUSTED', pointer: '/assets/evil/href', retryable: false }),
      },
      request('one', 'https://data.example/1/B04.tif'),
      { id: 'one', collection: 'scenes', asset: 'thumb', method: 'GET', url: 'https://public.example/1.png', headers: {} },
    ])
  })

  it('reads lines that are targets, with the schemes that they define', async () => {
    const target = { id: 'mine', href: 'https://data.example/f', 'auth:refs': ['key'], 'auth:schemes': { key: KEY_SCHEME } }
    const stdin = ndjson(target, { ...target, id: 7, href: 'https://evil.example/f' }, { href: 'https://data.example/open' })
    const { code, stdout } = await authorizeAll(['--reveal'], { stdin })
    expect(code).toBe(4)
    const { asset: _, collection: __, ...rest } = request('mine', 'https://data.example/f')
    expect(lines(stdout)).toEqual([
      { ...rest, href: 'https://data.example/f' },
      { href: 'https://evil.example/f', error: expect.objectContaining({ code: 'CREDENTIAL_TARGET_UNTRUSTED', pointer: '/href' }) },
      { href: 'https://data.example/open', method: 'GET', url: 'https://data.example/open', headers: {} },
    ])
  })

  it('prints nothing for a list without lines, as an empty part of a divided list is', async () => {
    const nothing = { code: 0, stdout: '', stderr: '0 requests, 0 errors\n' }
    for (const stdin of ['', '\n', ' \r\n\n']) expect(await authorizeAll([], { stdin })).toMatchObject(nothing)
    expect(await authorizeAll([await put(folder, 'part.ndjson', '')])).toMatchObject(nothing)
    expect(await authorizeAll([await put(folder, 'item.json', '')])).toMatchObject({
      code: 6,
      stdout: expect.stringContaining('DOC_NOT_JSON'),
    })
  })

  it('prints an error for a line that cannot be read, and goes on', async () => {
    const { code, stdout } = await authorizeAll(['--reveal', '--asset', 'B04'], { stdin: ndjson(one, 'oops', two) })
    expect(code).toBe(6)
    expect(lines(stdout)).toEqual([
      request('one', 'https://data.example/1/B04.tif'),
      { error: expect.objectContaining({ code: 'DOC_NOT_JSON', message: expect.stringContaining('"-", line 2: ') }) },
      request('two', 'https://data.example/2/B04.tif'),
    ])
  })

  it('prints an error for JSON that is neither a document nor a target', async () => {
    const { code, stdout } = await authorizeAll(['--reveal', '--asset', 'B04'], { stdin: ndjson(one, { a: 1 }, 5, two) })
    const line = (number: number) => `"-", line ${number}: this is neither a STAC document nor a target`
    expect(code).toBe(2)
    expect(lines(stdout)).toEqual([
      request('one', 'https://data.example/1/B04.tif'),
      { error: expect.objectContaining({ code: 'TARGET_NOT_FOUND', message: line(2) }) },
      { error: expect.objectContaining({ message: expect.stringContaining('"-", line 3: ') }) },
      request('two', 'https://data.example/2/B04.tif'),
    ])
    expect(await authorizeAll([], { stdin: '{"a":1}' })).toMatchObject({ code: 2, stderr: '0 requests, 1 error\n' })
  })

  it('prints an error for a list without elements, and for elements that are neither a document nor a target', async () => {
    const { code, stdout } = await authorizeAll(['--reveal', '--asset', 'B04'], { stdin: ndjson(one, [], [7], [{}, two, 5]) })
    const error = (number: number, reason: string) => ({
      error: expect.objectContaining({ code: 'TARGET_NOT_FOUND', message: `"-", line ${number}: ${reason}` }),
    })
    const element = 'element /0 of the list is neither a STAC document nor a target'
    expect(code).toBe(2)
    expect(lines(stdout)).toEqual([
      request('one', 'https://data.example/1/B04.tif'),
      error(2, 'the list is empty'),
      error(3, element),
      error(4, `${element} (and 1 more)`),
      request('two', 'https://data.example/2/B04.tif'),
    ])
  })

  it.each(['[]', '[{}]', '{}'])('prints an error for NDJSON with the only line %s', async (line) => {
    const error = { code: 2, stderr: '0 requests, 1 error\n', stdout: expect.stringContaining('TARGET_NOT_FOUND') }
    expect(await authorizeAll([], { stdin: `${line}\n` })).toMatchObject(error)
    expect(await authorizeAll([await put(folder, 'line.ndjson', `${line}\n`)])).toMatchObject(error)
  })

  it('prints an error for an empty list in a file that is named, not for one in a folder', async () => {
    const path = await put(await temporaryFolder(), 'none.json', [])
    expect(await authorizeAll([path])).toMatchObject({ code: 2, stdout: expect.stringContaining('none.json\\": the list is empty') })
    expect(await authorizeAll([dirname(path)])).toMatchObject({ code: 0, stdout: '' })
  })

  it('ignores JSON files that are neither', async () => {
    expect(await authorizeAll([await put(folder, 'settings.json', { a: 1 })])).toMatchObject({ code: 0, stdout: '' })
  })

  it('authorizes an alternate where the asset itself cannot be, and the preferred alternate first', async () => {
    const alternate = { mirror: asset('https://data.example/mirror.tif') }
    const stdin = ndjson(
      item('x', { B04: asset('https://evil.example/f', { alternate }), B05: asset('https://data.example/f', { alternate }) }),
    )
    const shownOf = async (...argv: string[]) =>
      lines((await authorizeAll(argv, { stdin })).stdout).map((line) => {
        const { asset: assetKey, pointer, url } = line as Record<string, string>
        return [assetKey, pointer, url]
      })
    const mirror = (key: string) => [key, `/assets/${key}/alternate/mirror`, 'https://data.example/mirror.tif']
    expect(await shownOf()).toEqual([mirror('B04'), ['B05', undefined, 'https://data.example/f']])
    expect(await shownOf('--prefer', 'mirror')).toEqual([mirror('B04'), mirror('B05')])
  })

  it('divides the documents among shards', async () => {
    const stdin = ndjson(...Array.from({ length: 20 }, (_, index) => item(`i${index}`, { B04: asset(`https://data.example/${index}`) })))
    const idsOf = async (shard: string) =>
      lines((await authorizeAll(['--shard', shard], { stdin })).stdout).map((line) => (line as { id: string }).id)
    const parts = await Promise.all(['1/3', '2/3', '3/3'].map(idsOf))
    expect(parts.every((part) => part.length > 0)).toBe(true)
    expect(parts.flat().sort()).toEqual(Array.from({ length: 20 }, (_, index) => `i${index}`).sort())
  })

  it('answers a line at once while stdin stays open', async () => {
    const stdin = new PassThrough()
    const stdout = new PassThrough()
    const done = authorizeAll(['--reveal', '--asset', 'B04'], { stdin, stdout })
    for (const document of [one, two]) {
      // A second line tells that the input is NDJSON.
      stdin.write(`${JSON.stringify(document)}\n`)
    }
    const answers: unknown[] = []
    for await (const chunk of stdout) {
      answers.push(...lines(String(chunk)))
      if (answers.length === 2) break
    }
    expect(answers).toHaveLength(2)
    stdin.end()
    await done
  })

  it.each([
    ['--min-validity', '30'],
    ['--min-validity', '0s'],
    ['--expires', '604801'],
    ['--shard', '4/3'],
    ['--concurrency', '0'],
  ])('refuses %s %s', async (option, value) => {
    expect(await authorizeAll([option, value])).toMatchObject({ code: 2, stdout: '' })
  })
})
