import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { run } from '../run.ts'
import { downloaded, itemOf, promised, startArchive, tokenFor } from './fixture.ts'

const server = await startArchive()
const at = (name: string) => `${server.origin}/private/${name}`
const item = JSON.stringify(
  itemOf('one', {
    B04: promised(at('scene-B04-20.jp2')),
    B08: { ...promised(at('value-30.bin')), alternate: { s3: { href: 's3://bucket/scene-B08-30.jp2' } } },
    metadata: promised(at('metadata-10.xml')),
    preview: promised(at('scene-40.png')),
  }),
)

describe('download --include', () => {
  it.each([
    ['a glob of file names, also of alternates', ['--include', '*.jp2'], ['one/scene-B04-20.jp2', 'one/value-30.bin']],
    ['a key', ['--include', 'metadata'], ['one/metadata-10.xml']],
    ['several of them', ['--include', '*.xml', '--include', 'pre*'], ['one/metadata-10.xml', 'one/scene-40.png']],
    ['less than --exclude leaves out', ['--include', '*.jp2', '--exclude', 'B08'], ['one/scene-B04-20.jp2']],
    ['what --asset selects, too', ['--include', '*.jp2', '--asset', 'B08'], ['one/value-30.bin']],
  ])('selects by %s', async (_what, options, names) => {
    const { code, files } = await downloaded(server, ['-', ...options], { stdin: item })
    expect([code, Object.keys(files)]).toEqual([0, names])
  })

  it('is named where --asset matches nothing', async () => {
    const { code, stderr } = await downloaded(server, ['-', '--asset', '*.jp2'], { stdin: item })
    expect([code, stderr]).toEqual([2, expect.stringContaining('--include matches their file names')])
  })
})

describe('--quiet', () => {
  it('of download prints nothing about files that are written', async () => {
    const { code, stdout, stderr, files } = await downloaded(server, ['-', '--quiet'], { stdin: item })
    expect([code, stdout, stderr, Object.keys(files).length]).toEqual([0, '', '', 4])
  })

  it('of download prints errors with their files', async () => {
    const broken = JSON.stringify(itemOf('two', { gone: { href: `${server.origin}/open/gone` } }))
    const { code, stdout, stderr } = await downloaded(server, ['-', '--quiet'], { stdin: broken })
    expect([code, stdout]).toEqual([5, ''])
    expect(stderr).toMatch(/^error HTTP_404: .*\n(?: {2}.*\n)* {2}file: two\/gone\n$/)
  })

  it('of fetch prints nothing about a body that is written', async () => {
    const folder = await temporaryFolder()
    const path = await put(folder, 'item.json', JSON.parse(item))
    const credentials = await tokenFor(server, folder)
    const fetched = (...argv: string[]) => run(['fetch', path, '--credentials', credentials, '-o', join(folder, 'f'), ...argv])
    expect(await fetched('--asset', 'B04', '--quiet')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect((await fetched('--asset', 'B04', '--quiet')).stderr).toContain('error PATH_EXISTS')
  })
})
