import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { HashThread } from '../../../src/node/download/hash-thread.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { noise } from '../../servers/file-server.ts'

const SIZE = 3 * 2 ** 20
/** The thread is started at once; the other hashes at the end. */
const hashes = new HashThread(0)
const later = new HashThread(SIZE * 2)
afterAll(() => Promise.all([hashes.close(), later.close()]))

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function fileWith(bytes: Buffer) {
  const file = await open(join(await temporaryFolder(), 'a.bin'), 'w+')
  onTestFinished(() => file.close())
  await file.write(bytes, 0, bytes.length, 0)
  return file
}

describe('a hash that follows a file', () => {
  it('a hash that follows a file is that of the next file when the first one was cut off before it was read', async () => {
    const [first, next] = [noise(SIZE, 'a'), noise(SIZE, 'b')]
    const file = await fileWith(first)
    const dropped = hashes.follow(file.fd, 'sha256')
    // The thread is behind: when it comes to read, the file is empty. Another digest tells that it has come to it.
    await file.truncate(0)
    dropped.reach(SIZE)
    await hashes.follow(file.fd, 'sha256').digest(0)
    dropped.drop()
    const following = hashes.follow((await fileWith(next)).fd, 'sha256')
    following.reach(SIZE / 2)
    expect(await following.digest(SIZE)).toBe(sha256(next))
  })

  it('a hash that follows a file is the same with and without a thread, and before and after one starts', async () => {
    const bytes = noise(SIZE)
    const file = await fileWith(bytes)
    for (const threads of [hashes, later, later, later]) {
      const following = threads.follow(file.fd, 'sha256')
      following.reach(SIZE / 3)
      following.reach(SIZE)
      expect(await following.digest(SIZE)).toBe(sha256(bytes))
      following.drop()
    }
  })

  it.each([
    ['in a thread', hashes],
    ['without a thread', new HashThread(SIZE)],
  ])('reports a file that ends too early %s', async (_, threads) => {
    const file = await fileWith(noise(1000))
    const following = threads.follow(file.fd, 'sha256')
    following.reach(1001)
    await expect(following.digest(1001)).rejects.toMatchObject({ code: 'EIO' })
  })

  it.each([
    ['in a thread', hashes],
    ['without a thread', new HashThread(SIZE)],
  ])('reports a file that is not followed any more, and of a hash that there is none of, %s', async (_, threads) => {
    const file = await fileWith(noise(1000))
    const dropped = threads.follow(file.fd, 'sha256')
    dropped.drop()
    await expect(dropped.digest(1000)).rejects.toMatchObject({ code: 'EBADF' })
    const unknown = threads.follow(file.fd, 'no-such-hash')
    unknown.reach(1000)
    await expect(unknown.digest(1000)).rejects.toThrow()
  })
})
