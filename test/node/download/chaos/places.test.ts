import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, readlink, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { MANIFEST_NAME } from '../../../../src/node/download/manifest.ts'
import { temporaryFolder } from '../../../cli/folder.ts'
import type { FaultOf } from '../../../servers/chaos/fault.ts'
import { namesIn } from '../fixture.ts'
import { chaosRun } from './chaos-run.ts'
import { processStarter } from './started-process.ts'

const SIZE = 3_000_000
const FILES = { '/a.tif': { size: SIZE } }
const NESTED = '{id}/{name}'
const { start, remove } = await processStarter()
afterAll(remove)

describe('a place that is taken', () => {
  it.each<[string, (path: string) => Promise<unknown>, string]>([
    ['a folder', (path) => mkdir(path), 'PATH_UNSAFE'],
    ['a pipe', async (path) => execFileSync('mkfifo', [path]), 'PATH_UNSAFE'],
    ['a link to a file', (path) => symlink('/etc/hostname', path), 'PATH_UNSAFE'],
    ['a link to nothing', (path) => symlink('/nowhere/at/all', path), 'PATH_UNSAFE'],
    ['a device', (path) => symlink('/dev/full', path), 'PATH_UNSAFE'],
  ])('a place that is taken by %s stays as it is', async (_, make, code) => {
    const { run, folder, proxy } = await chaosRun({ files: FILES })
    await make(join(folder, 'a.tif'))
    for (const existing of ['keep', 'refuse', 'replace'] as const) {
      const { failed, leftovers } = await inspectedOnly(run, { existing })
      expect(failed.map(({ error }) => error.code)).toEqual([code])
      expect(failed[0]?.error.message).toContain('a.tif')
      expect(leftovers).toEqual([])
    }
    expect(proxy.requests).toBe(0)
  })

  it.each(['a.tif.part', 'a.tif.part.json', 'a.tif.part.lock'])(
    'a place that is taken by a link called %s is not written through',
    async (name) => {
      const outside = await temporaryFolder()
      await writeFile(join(outside, 'precious'), 'precious')
      const { run, folder } = await chaosRun({ files: FILES })
      await symlink(join(outside, 'precious'), join(folder, name))
      const { codes, written } = await run()
      expect([...codes, ...written.map(({ kind }) => kind)]).toEqual([expect.stringMatching(/^(?:PATH_BUSY|PATH_UNSAFE|written)$/)])
      expect(await readFile(join(outside, 'precious'), 'utf8')).toBe('precious')
      expect(await readdir(outside)).toEqual(['precious'])
    },
  )
})

describe('the folder of a file', () => {
  it('the folder of a file that is a link is not written through', async () => {
    const outside = await temporaryFolder()
    const { run, folder, proxy } = await chaosRun({ files: FILES })
    await symlink(outside, join(folder, 'one'))
    const { failed } = await run({ template: NESTED })
    expect(failed.map(({ error }) => error.code)).toEqual(['PATH_UNSAFE'])
    expect([await readdir(outside), proxy.requests]).toEqual([[], 0])
  })

  it.each([
    ['large', SIZE],
    ['small', 100_000],
  ])('the folder of a file that becomes a link meanwhile is not written through, with a %s file', async (_, size) => {
    const outside = await temporaryFolder()
    let swap: () => Promise<void> = async () => {}
    let swapped: Promise<void> | undefined
    const faultOf: FaultOf = ({ nth }) => {
      if (nth === 1) return { do: 'reset', at: 0.5 }
      swapped ??= swap()
      return { do: 'hold', at: 'head', until: swapped }
    }
    const { run, folder } = await chaosRun({ files: { '/a.tif': { size } }, faultOf })
    swap = async () => {
      await rename(join(folder, 'one'), join(folder, 'elsewhere'))
      await symlink(outside, join(folder, 'one'))
    }
    const { failed, written } = await run({ template: NESTED })
    expect(await readlink(join(folder, 'one'))).toBe(outside)
    expect(await readdir(outside)).toEqual([])
    expect(written).toEqual([])
    expect(failed.map(({ error }) => error.code)).toEqual([expect.stringMatching(/^(?:PATH_UNSAFE|FILE_ACCESS)$/)])
  })

  it('the folder of a file that the caller names may be a link: it is followed once', async () => {
    const real = await temporaryFolder()
    const { run, folder } = await chaosRun({ files: FILES })
    await symlink(real, join(folder, 'chosen'))
    const { written } = await run({ folder: join(folder, 'chosen') })
    expect(written.map(({ file }) => file.path)).toEqual([join(real, 'a.tif')])
  })
})

describe('names', () => {
  it('names that are one on some file systems are not two files', async () => {
    const names = ['A.tif', 'a.TIF', 'a.tif', 'e\u0301.tif', '\u00e9.tif']
    const files = Object.fromEntries(names.map((name) => [`/${encodeURIComponent(name)}`, { size: 1000, asset: {} }]))
    const { run, folder } = await chaosRun({ files })
    const { codes } = await inspectedOnly(run)
    expect(codes).toEqual(['PATH_COLLISION', 'PATH_COLLISION', 'PATH_COLLISION'])
    const renamed = await chaosRun({ files })
    expect((await inspectedOnly(renamed.run, { collisions: 'rename' })).codes).toEqual([])
    expect([(await namesIn(folder)).length, (await namesIn(renamed.folder)).length]).toEqual([2, 5])
  })

  it.each([
    '../../outside',
    '..',
    '.',
    '',
    '/etc/passwd',
    '\\\\server\\share',
    'C:\\windows',
    'con',
    'NUL.tif',
    'a\0b',
    'a\nb',
    '-rf',
    '~root',
    '.ssh',
    'x'.repeat(5000),
    '\u202egnp.exe',
    'a.part',
    'a.part.json',
    '__proto__',
    'constructor',
    '\ud800',
    '💥'.repeat(300),
    '%2e%2e%2f%2e%2e%2fx',
    'a/../../b',
  ])('names of assets lead nowhere else: %j', async (key) => {
    const { run, folder } = await chaosRun({
      files: { '/a.tif': { size: 10 } },
      item: { id: key, collection: key, assets: Object.fromEntries([[key, { href: 'a.tif' }]]) },
    })
    const { written, codes } = await run({ template: '{id}/{collection}/{key}{ext}' })
    expect(codes).toEqual([])
    const [path = ''] = written.map(({ file }) => file.path)
    expect(path.startsWith(`${folder}/`)).toBe(true)
    const segments = path.slice(folder.length + 1).split('/')
    expect(segments.length).toBe(3)
    for (const segment of segments) expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(200)
    expect((await readdir(folder, { recursive: true })).filter((name) => name !== MANIFEST_NAME).length).toBe(3)
  })
})

describe('what the system refuses', () => {
  // The system's own folder: there it refuses the superuser as well, who may write in folders of the mode 555.
  it('what the system refuses in a folder that cannot be written is reported', async () => {
    const { proxy } = await chaosRun({ files: { '/0.bin': { size: 70_000 }, '/1.bin': { size: SIZE } } })
    const { codes, summary } = await start({ folder: '/sys/kernel', origin: proxy.origin, count: 2 }).ended
    expect([codes, summary?.written]).toEqual([['FILE_ACCESS', 'FILE_ACCESS'], 0])
  })

  it('beyond a size keeps what can be continued', async () => {
    const { proxy, folder } = await chaosRun({ files: { '/0.bin': { size: SIZE } } })
    const work = { folder, origin: proxy.origin, count: 1 }
    const { codes, lines } = await start(work, { before: 'ulimit -f 2048' }).ended
    expect(codes).toEqual(['FILE_ACCESS'])
    expect(lines.find(({ kind }) => kind === 'failed')).toMatchObject({ error: { message: expect.stringContaining('0.bin') } })
    expect(await readdir(folder)).not.toContain('0.bin')
    const again = await start(work).ended
    expect(again.summary).toMatchObject({ written: 1, failed: 0 })
    expect(await namesIn(folder)).toEqual(['0.bin'])
  })
})

/** The outcome of a run whose files are not all there to be compared. */
async function inspectedOnly(run: Awaited<ReturnType<typeof chaosRun>>['run'], options: Parameters<typeof run>[0] = {}) {
  const { failed, codes, leftovers } = await run(options)
  return { failed, codes, leftovers }
}
