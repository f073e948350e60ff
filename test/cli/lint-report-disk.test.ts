import { execFile } from 'node:child_process'
import { link, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { disk } from '../node/download/full-disk.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run } from './run.ts'

vi.mock('node:fs/promises', async (original) => (await import('../node/download/full-disk.ts')).onFullDiskLater(await original()))
afterEach(() => disk.reset())

const folder = await temporaryFolder()
const dangling = await put(folder, 'dangling.json', itemWith({ data: { href: 'https://data.example/f', 'auth:refs': ['gone'] } }))
const lint = (file: string, format = 'json') => run(['lint', dangling, '--format', `${format}=${file}`])
const parts = async () => (await readdir(folder)).filter((name) => name.endsWith('.part'))

describe('a report file', () => {
  it.each(['ENOSPC', 'EDQUOT'])('stays as it was when the disk is full (%s), and the exit code is 6', async (code) => {
    const file = await put(folder, `full-${code}.json`, 'the earlier report')
    disk.code = code
    disk.room = 100
    const outcome = await lint(file)
    expect([outcome.code, outcome.stderr]).toEqual([6, expect.stringContaining('DISK_FULL')])
    expect([await readFile(file, 'utf8'), await parts()]).toEqual(['the earlier report', []])
  })

  it.each(['ndjson', 'concise'])(
    'a report file of lines stays as it was when the disk is full, and another report is written: %s',
    async (format) => {
      const file = await put(folder, `full.${format}`, 'the earlier report')
      disk.refuses = (step, path) => step === 'write' && path.startsWith(file)
      const outcome = await run(['lint', dangling, '--format', `${format}=${file}`, '--format', 'json'])
      expect([outcome.code, outcome.stderr]).toEqual([6, expect.stringContaining('DISK_FULL')])
      expect(outcome.stdout).toContain('dangling-ref')
      expect([await readFile(file, 'utf8'), await parts()]).toEqual(['the earlier report', []])
    },
  )

  it('a report file of lines replaces the earlier one, and is written through where that cannot be', async () => {
    const file = await put(folder, 'lines.ndjson', 'before')
    expect((await lint(file, 'ndjson')).code).toBe(1)
    const first = await readFile(file, 'utf8')
    expect(first).toMatch(/^\{"rule":.*\n(?:.*\n)*\{"version":1,"summary":.*\n$/)
    disk.code = 'EACCES'
    disk.refuses = (step, path) => step === 'make' && path.startsWith(file)
    await writeFile(file, 'before')
    expect((await lint(file, 'ndjson')).code).toBe(1)
    expect([await readFile(file, 'utf8'), await parts()]).toEqual([first, []])
  })

  it('a report file that is new does not appear when the disk is full', async () => {
    disk.refuses = (step) => step === 'sync'
    expect((await lint(join(folder, 'new.json'))).code).toBe(6)
    await expect(stat(join(folder, 'new.json'))).rejects.toThrow('ENOENT')
    expect(await parts()).toEqual([])
  })

  it('a report file that is a link is replaced where it leads to, and keeps its mode', async () => {
    const real = join(folder, 'real.json')
    await writeFile(real, 'before', { mode: 0o640 })
    await symlink(real, join(folder, 'link.json'))
    expect((await lint(join(folder, 'link.json'))).code).toBe(1)
    expect(JSON.parse(await readFile(real, 'utf8')).summary.errors).toBe(1)
    expect((await stat(real)).mode & 0o777).toBe(0o640)
  })

  it('a report file that cannot be replaced, as one that is mounted by itself, is written to', async () => {
    const file = await put(folder, 'mounted.json', 'before')
    await link(file, join(folder, 'same.json'))
    disk.code = 'EBUSY'
    disk.refuses = (step) => step === 'name'
    expect((await lint(file)).code).toBe(1)
    expect(JSON.parse(await readFile(join(folder, 'same.json'), 'utf8')).version).toBe(1)
    expect(await parts()).toEqual([])
  })

  it('a report file that is a device is written to as it is', async () => {
    expect((await lint('/dev/null')).code).toBe(1)
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true)
  })

  it('a report file that is standard output is written into the pipe behind it', async () => {
    const program = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))
    const script = '"$0" "$1" lint "$2" --format json=/dev/stdout | cat'
    const { stdout } = await promisify(execFile)('sh', ['-c', script, process.execPath, program, dangling])
    expect(JSON.parse(stdout).summary.errors).toBe(1)
  })
})
