import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../src/cli/read-document.ts'
import { put, temporaryFolder } from './folder.ts'

const folder = await temporaryFolder()
const never = async () => {
  throw new Error('no credentials are needed for files')
}
const io = (stdin: Readable = Readable.from([]), signal = new AbortController().signal) => ({ stdin, signal }) as never
const read = (name: string, stdin?: Readable) => readDocument(name, io(stdin), never)

describe('readDocument', () => {
  it('reads a file, and takes its self link as base', async () => {
    const links = [{ rel: 'self', href: 'https://data.example/x.json' }]
    const path = await put(folder, 'self.json', { type: 'Catalog', links })
    expect(await read(path)).toEqual({ document: { type: 'Catalog', links }, url: 'https://data.example/x.json' })
  })

  it.each(['./x.json', '/x.json', 'file:///x.json', 'https://'])('readDocument has no base from a self link like %s', async (href) => {
    const path = await put(folder, 'self.json', { links: [{ rel: 'self', href }] })
    expect(await read(path)).not.toHaveProperty('url')
  })

  it('reads standard input in pieces that cut characters', async () => {
    const bytes = new TextEncoder().encode('\ufeff{"id":"ü"}')
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte))
    expect(await read('-', Readable.from(pieces))).toEqual({ document: { id: 'ü' } })
  })

  it.each([
    ['missing.json', 'no such file'],
    ['', 'folder'],
    ['self.json/x', 'is not a folder'],
  ])('%j: FILE_ACCESS, %s', async (name, why) => {
    await put(folder, 'self.json', {})
    await expect(read(join(folder, name))).rejects.toMatchObject({ code: 'FILE_ACCESS', message: expect.stringContaining(why) })
  })

  it('stops reading a file of 4 GiB at the limit', async () => {
    const path = await put(folder, 'big.json', {})
    await truncate(path, 4 * 1024 ** 3)
    const before = process.memoryUsage().arrayBuffers
    await expect(read(path)).rejects.toMatchObject({ code: 'DOC_TOO_LARGE' })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 ** 3)
  })

  it('stops waiting for standard input when it is interrupted', async () => {
    const interruption = new AbortController()
    const reading = readDocument('-', io(new Readable({ read() {} }), interruption.signal), never)
    interruption.abort('SIGINT')
    await expect(reading).rejects.toMatchObject({ code: 'ABORTED' })
  })
})
