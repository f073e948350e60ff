import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { type DownloadOptions, download } from '../../../src/node/download/download.ts'
import { linkOf } from '../../../src/stac/target.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { run } from './fixture.ts'

const item = { type: 'Feature', id: 'one', properties: {}, links: [], assets: { data: { href: 'https://data.example/a.tif' } } }

/** What a program gets that passes this without a compiler. */
async function refusal(inputs: unknown, options: unknown): Promise<unknown> {
  const given =
    typeof options === 'object' ? { auth: createAuth({ credentials: [] }), folder: await temporaryFolder(), ...options } : options
  try {
    for await (const { kind } of download(inputs as [], given as DownloadOptions)) if (kind === 'summary') return 'nothing was refused'
  } catch (error) {
    const { code, message, hint } = error as { code?: string; message: string; hint?: string }
    return [code, message, ...(hint === undefined ? [] : [hint])]
  }
  return undefined
}

const LIST = 'pass a list: [{ document: item, url }] or [assetOf(item, key)]'

describe('options of download', () => {
  it.each([
    ['an item without its document', [item], ['CONFIG_INVALID', 'an input is neither a document nor a target', LIST]],
    ['an asset', [item.assets.data], ['CONFIG_INVALID', 'an input is neither a document nor a target', LIST]],
    ['text', [{ document: JSON.stringify(item) }], ['CONFIG_INVALID', 'an input is neither a document nor a target', LIST]],
    ['null', [null], ['CONFIG_INVALID', 'an input is neither a document nor a target', LIST]],
    ['a promise of a document', [{ document: Promise.resolve(item) }], ['CONFIG_INVALID', 'a document is a promise', 'await it first']],
    [
      'a link that is absent',
      [linkOf(item, 'data')],
      ['TARGET_NOT_FOUND', 'the document has no such asset or link', 'see targetsOf(document)'],
    ],
    ['a document without a list', { document: item }, ['CONFIG_INVALID', 'the first argument is not a list of documents', LIST]],
    ['nothing', undefined, ['CONFIG_INVALID', 'the first argument is not a list of documents', LIST]],
  ])('refuses %s instead of downloading no file', async (_what, inputs, expected) => {
    expect(await refusal(inputs, {})).toEqual(expected)
  })

  it.each([
    ['concurrency', 0, 'concurrency is not a number of 1 or more: 0'],
    ['concurrency', '4', 'concurrency is not a number of 1 or more: 4'],
    ['perHost', Number.NaN, 'perHost is not a number of 1 or more: NaN'],
    ['ranges', 0, 'ranges is not a number of 1 or more: 0'],
    ['maxObjects', 0, 'maxObjects is not a number of 1 or more: 0'],
    ['retries', -1, 'retries is not a number of 0 or more: -1'],
    ['stallTimeout', 0, 'stallTimeout is not a number from 1 to 604800000: 0'],
    ['stallTimeout', 1e300, 'stallTimeout is not a number from 1 to 604800000: 1e+300'],
    ['wait', 604_800_001, 'wait is not a number from 0 to 604800000: 604800001'],
    ['progressInterval', '', 'progressInterval is not a number from 0 to 604800000: '],
    ['rate', 0, 'rate is not a number above 0: 0'],
    ['bytesPerSecond', '1M', 'bytesPerSecond is not a number above 0: 1M'],
    ['existing', 'overwrite', 'existing is not one of keep, refuse, replace: overwrite'],
    ['collisions', true, 'collisions is not one of refuse, rename: true'],
    ['assets', { keys: 'data' }, 'assets.keys is not a list of strings'],
    ['assets', ['data'], 'assets is not an object', "assets: { keys: ['B04'] }"],
    ['assets', { types: [/tiff/] }, 'assets.types is not a list of strings'],
    ['assets', null, 'assets is not an object', "assets: { keys: ['B04'] }"],
    ['template', 5, 'template is not text'],
    ['folder', 5, 'folder is missing', "folder: 'data'"],
    ['alternates', 's3', 'alternates is not a list of strings'],
    ['folder', undefined, 'folder is missing', "folder: 'data'"],
    ['auth', undefined, 'auth is not an engine', 'auth: createAuth({ credentials })'],
    ['auth', Promise.resolve({}), 'auth is not an engine', 'auth: createAuth({ credentials })'],
  ])('refuses %s: %j, which would end in an endless run or be ignored', async (name, value, ...expected) => {
    expect(await refusal([{ document: item }], { [name]: value })).toEqual(['CONFIG_INVALID', ...expected])
  })

  it('refuses absent options', async () => {
    expect(await refusal([], undefined)).toEqual(['CONFIG_INVALID', 'auth is not an engine', 'auth: createAuth({ credentials })'])
  })

  it('accepts counts without an upper limit', async () => {
    const unlimited = { concurrency: Number.POSITIVE_INFINITY, retries: Number.POSITIVE_INFINITY }
    const { summary } = await run([{ document: item }], { folder: await temporaryFolder(), dryRun: true, ...unlimited })
    expect(summary).toMatchObject({ files: 1, failed: 0 })
  })
})
