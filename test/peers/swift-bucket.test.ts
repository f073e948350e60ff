/** Downloads into a bucket of OpenStack Swift, by its S3 interface. */
import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { codesOf, itemOf, ofKind, run } from '../node/download/fixture.ts'
import { type FileServer, noise, startFileServer } from '../servers/file-server.ts'
import { useSwift } from './swift.ts'

const swift = useSwift()
const FILES: Readonly<Record<string, Buffer>> = { '/small.bin': noise(1000), '/large.bin': noise(18 * 2 ** 20 + 3, 'b') }
let server: FileServer

beforeAll(async () => {
  server = await startFileServer((path) => (FILES[path] ? { bytes: FILES[path] } : undefined))
})
afterAll(() => server.close())
afterEach(() => {
  vi.unstubAllEnvs()
})

function keys(secretAccessKey = swift().keys.secretAccessKey): void {
  vi.stubEnv('AWS_ENDPOINT_URL', swift().url)
  vi.stubEnv('AWS_REGION', swift().region)
  vi.stubEnv('AWS_ACCESS_KEY_ID', swift().keys.accessKeyId)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey)
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
}

const checksum = (path: string) =>
  `1220${createHash('sha256')
    .update(FILES[path] ?? '')
    .digest('hex')}`
const assets = () => ({ small: { href: 'small.bin' }, large: { href: 'large.bin', 'file:checksum': checksum('/large.bin') } })
const fetched = (more: object = {}) => run([itemOf(server, { ...assets(), ...more })], { folder: `s3://${swift().bucket}/copies`, server })

describe('OpenStack Swift as the bucket of a download', () => {
  it('takes small files at once and large ones in parts, which a second run finds by their content', async () => {
    keys()
    const result = await fetched()
    expect(ofKind(result, 'failed')).toEqual([])
    expect(result.summary).toMatchObject({ written: 2, bytes: 1000 + 18 * 2 ** 20 + 3 })
    const asked = server.asked.length
    const again = await fetched()
    // The large one is read back and hashed.
    expect(ofKind(again, 'kept').map(({ verified }) => verified)).toEqual(expect.arrayContaining([['manifest'], ['checksum']]))
    expect(server.asked.length).toBe(asked)
  })

  it('has no object of a file whose checksum is wrong', async () => {
    keys()
    const wrong = { wrong: { href: 'large.bin', 'file:checksum': checksum('/small.bin'), 'file:local_path': 'wrong.bin' } }
    const options = { folder: `s3://${swift().bucket}/wrong`, server }
    expect(codesOf(await run([itemOf(server, wrong)], options))).toEqual(['FILE_INTEGRITY'])
    const right = await run([itemOf(server, { right: { href: 'large.bin' } })], options)
    expect(right.summary).toMatchObject({ written: 1, kept: 0 })
  })

  it('refuses a wrong secret', async () => {
    keys('wrong')
    await expect(fetched()).rejects.toMatchObject({ code: 'FILE_ACCESS', message: expect.stringContaining('SignatureDoesNotMatch (403)') })
  })
})
