import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { HashThread } from '../../../src/node/download/hash-thread.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { noise } from '../../servers/file-server.ts'

const SIZE = 3 * 2 ** 20
const hashes = new HashThread()
afterAll(() => hashes.close())

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

  it('reports a file that ends too early', async () => {
    const file = await fileWith(noise(1000))
    const following = hashes.follow(file.fd, 'sha256')
    following.reach(1001)
    await expect(following.digest(1001)).rejects.toMatchObject({ code: 'EIO' })
  })

  it('reports a file that is not followed any more, and of a hash that there is none of', async () => {
    const file = await fileWith(noise(1000))
    const dropped = hashes.follow(file.fd, 'sha256')
    dropped.drop()
    await expect(dropped.digest(1000)).rejects.toMatchObject({ code: 'EBADF' })
    await expect(hashes.follow(file.fd, 'no-such-hash').digest(1000)).rejects.toMatchObject({ code: 'EBADF' })
  })
})
