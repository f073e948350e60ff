import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { credentialsFromFile } from '../../src/node/credentials/credential-file.ts'
import { put, temporaryFolder } from '../cli/folder.ts'

/** Owner and mode that the system reports for the credential file. */
const reported = vi.hoisted(() => ({ uid: 0, mode: 0 }))
vi.mock('../../src/node/base/files.ts', async (original) => {
  const real = await original<typeof import('../../src/node/base/files.ts')>()
  const readRegularFile: typeof real.readRegularFile = async (path, limit) => {
    const reading = await real.readRegularFile(path, limit)
    return 'stats' in reading ? { ...reading, stats: Object.assign(reading.stats, reported) } : reading
  }
  return { readRegularFile }
})

const folder = await temporaryFolder()
const [SELF, OTHER] = [1000, 1001]
beforeEach(() => void vi.spyOn(process, 'getuid').mockReturnValue(SELF))

async function read(uid: number, mode: number): Promise<string> {
  Object.assign(reported, { uid, mode: 0o100_000 | mode })
  const path = await put(folder, 'credentials.json', { version: 1, credentials: [] })
  return credentialsFromFile(path).then(
    () => 'read',
    (error) => String(error.message).replace(join(folder, 'credentials.json'), 'it'),
  )
}

describe('a credential file', () => {
  it.each([0o600, 0o400, 0o440, 0o444, 0o640, 0o644])(
    'a credential file of root that only root can write is read: a mounted secret of mode %o',
    async (mode) => {
      expect(await read(0, mode)).toBe('read')
      expect(await read(SELF, mode)).toBe('read')
    },
  )

  it.each([0o620, 0o602, 0o660, 0o666, 0o646, 0o664, 0o777])(
    'a credential file that others can write is refused, of root as of the user: mode %o',
    async (mode) => {
      for (const uid of [0, SELF]) expect(await read(uid, mode)).toBe('the credential file it can be written by others')
    },
  )

  it.each([0o400, 0o600, 0o644])('a credential file of any other user is refused, whatever its mode: %o', async (mode) => {
    expect(await read(OTHER, mode)).toBe('the credential file it belongs to another user')
    vi.spyOn(process, 'getuid').mockReturnValue(0)
    expect(await read(OTHER, mode)).toBe('the credential file it belongs to another user')
  })
})
