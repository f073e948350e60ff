/** Downloads into a bucket of the user's. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { BucketPart } from '../../../src/node/download/destination/bucket.ts'
import { BucketClient } from '../../../src/node/download/destination/bucket-client.ts'
import { openDestination } from '../../../src/node/download/destination/destination.ts'
import type { DownloadOptions } from '../../../src/node/download/download.ts'
import { identityOf } from '../../../src/node/queue/destination.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { type Fault, type FileServer, noise, type ServedContent, startFileServer } from '../../servers/file-server.ts'
import { startSocketServer } from '../../servers/harness.ts'
import { type S3Bucket, type S3BucketOptions, startS3Bucket } from '../../servers/s3-bucket.ts'
import { codesOf, itemOf, ofKind, run } from './fixture.ts'

const KEY = { accessKeyId: 'AKIDBUCKET', secretAccessKey: 'secret-of-the-bucket' }
const SMALL = noise(1000, 'small')
const LARGE = noise(20 * 2 ** 20 + 5, 'large')

let bucket: S3Bucket
let server: FileServer
const closing: (() => Promise<unknown>)[] = []

afterEach(async () => {
  vi.unstubAllEnvs()
  for (const close of closing.splice(0)) await close()
})

interface Scene extends Pick<S3BucketOptions, 'onRequest' | 'hasConditionalWrites'> {
  readonly faultOf?: (n: number) => Fault | undefined
  readonly files?: Readonly<Record<string, ServedContent>>
}

async function scene({ faultOf, files = { '/small.bin': { bytes: SMALL }, '/large.bin': { bytes: LARGE } }, ...more }: Scene = {}) {
  bucket = await startS3Bucket({ bucket: 'mine', key: KEY, ...more })
  server = await startFileServer(
    (path) => files[path],
    (_asking, n) => faultOf?.(n),
  )
  closing.push(
    () => bucket.close(),
    () => server.close(),
  )
  vi.stubEnv('AWS_ENDPOINT_URL', bucket.url)
}

beforeEach(() => {
  for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_ENDPOINT_URL_S3']) vi.stubEnv(name, '')
  vi.stubEnv('AWS_ACCESS_KEY_ID', KEY.accessKeyId)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', KEY.secretAccessKey)
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere')
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere')
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
})

/** A proxy that opens tunnels to what it is asked for, or answers each request in the same way. */
async function startTunnels(answer?: string) {
  const asked: string[] = []
  const proxy = await startSocketServer((socket) => {
    socket.once('data', (head) => {
      const [line = ''] = head.toString('latin1').split('\r\n')
      asked.push(line)
      if (answer) return socket.end(answer)
      const [, host, port] = /^CONNECT (\S+):(\d+) HTTP/.exec(line) ?? []
      const upstream = connect(Number(port), host, () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
      upstream.on('error', () => socket.destroy())
      socket.on('error', () => upstream.destroy())
      socket.pipe(upstream).pipe(socket)
    })
  })
  closing.push(() => proxy.close())
  return { asked, url: `http://127.0.0.1:${proxy.port}` }
}

const fetched = (assets: object, options: Partial<DownloadOptions> = {}) =>
  run([itemOf(server, assets)], { folder: 's3://mine/data', server, ...options })

const both = { small: { href: 'small.bin' }, large: { href: 'large.bin' } }
const multihash = (bytes: Uint8Array) => `1220${createHash('sha256').update(bytes).digest('hex')}`

describe('a file that goes into a bucket', () => {
  it('arrives at once or in parts, with its name below the prefix', async () => {
    await scene()
    const result = await fetched(both)
    expect(codesOf(result)).toEqual([])
    expect(ofKind(result, 'written').map(({ file: { name, path }, bytes }) => ({ name, path, bytes }))).toEqual(
      expect.arrayContaining([
        { name: 'small.bin', path: 's3://mine/data/small.bin', bytes: SMALL.length },
        { name: 'large.bin', path: 's3://mine/data/large.bin', bytes: LARGE.length },
      ]),
    )
    expect(bucket.objects.get('data/small.bin')?.equals(SMALL)).toBe(true)
    expect(bucket.objects.get('data/large.bin')?.equals(LARGE)).toBe(true)
    expect(bucket.log.filter((entry) => entry === 'UploadPart data/large.bin')).toHaveLength(3)
    expect(bucket.uploads.size).toBe(0)
    expect(server.violations).toEqual([])
  })

  it('is not fetched again by a second run, which compares it with the manifest of the first', async () => {
    await scene()
    await fetched(both)
    const asked = server.asked.length
    const again = await fetched(both)
    expect(ofKind(again, 'kept').map(({ verified }) => verified)).toEqual([['manifest'], ['manifest']])
    expect(server.asked.length).toBe(asked)
    // The first bytes tell whether a login page was saved; the whole is not read.
    const ranges = bucket.headers.map(({ range }) => range).filter((range) => range !== undefined)
    expect(ranges).toHaveLength(bucket.log.filter((entry) => /^GetObject .*bin$/.test(entry)).length)
  })

  it('is reported when the object was changed meanwhile, and replaced when that is wanted', async () => {
    await scene()
    await fetched({ small: both.small })
    const other = Buffer.from(SMALL).fill(0)
    ;(bucket.objects as Map<string, Buffer>).set('data/small.bin', other.subarray(1))
    const refused = await fetched({ small: both.small })
    expect(codesOf(refused)).toEqual(['PATH_EXISTS'])
    expect(ofKind(refused, 'failed')[0]?.error.message).toContain('it has 999 bytes and had 1000')
    const replaced = await fetched({ small: both.small }, { existing: 'replace' })
    expect(replaced.summary).toMatchObject({ written: 1, failed: 0 })
    expect(bucket.objects.get('data/small.bin')?.equals(SMALL)).toBe(true)
  })

  it('is compared by its content with the checksum of its document', async () => {
    await scene()
    ;(bucket.objects as Map<string, Buffer>).set('data/small.bin', Buffer.from(SMALL).fill(0))
    const wrong = await fetched({ small: { ...both.small, 'file:checksum': multihash(SMALL) } })
    expect(codesOf(wrong)).toEqual(['PATH_EXISTS'])
    ;(bucket.objects as Map<string, Buffer>).set('data/small.bin', SMALL)
    const right = await fetched({ small: { ...both.small, 'file:checksum': multihash(SMALL) } })
    expect(ofKind(right, 'kept')[0]?.verified).toEqual(['checksum'])
  })

  it('never exists in the bucket when its checksum or its size is wrong, and its parts are removed', async () => {
    await scene()
    const result = await fetched({
      large: { ...both.large, 'file:checksum': multihash(SMALL) },
      small: { ...both.small, 'file:size': 999 },
    })
    expect(codesOf(result)).toEqual(['FILE_INTEGRITY', 'FILE_INTEGRITY'])
    expect([...bucket.objects.keys()]).toEqual([])
    expect(bucket.log).toContain('AbortMultipartUpload data/large.bin')
    expect(bucket.uploads.size).toBe(0)
  })

  it('is continued where its server cut the connection', async () => {
    await scene({ faultOf: (n) => (n === 0 ? { resetAfter: 9 * 2 ** 20 } : undefined) })
    const result = await fetched({ large: both.large })
    expect(result.summary).toMatchObject({ written: 1, failed: 0, retries: 1 })
    expect(server.asked[1]?.range).toMatch(/^bytes=\d{7}/)
    expect(bucket.objects.get('data/large.bin')?.equals(LARGE)).toBe(true)
    expect(bucket.log.filter((entry) => entry.startsWith('CreateMultipartUpload'))).toHaveLength(1)
  })

  it('begins anew with another upload when it changed on its server', async () => {
    const next = noise(LARGE.length, 'next')
    let asked = 0
    await scene()
    await server.close()
    // A reset discards what the system holds for the reader: up to some MiB, and the upload begins with the first 8.
    server = await startFileServer(
      () => ({ bytes: asked++ === 0 ? LARGE : next }),
      (_asking, n) => (n === 0 ? { resetAfter: 19 * 2 ** 20 } : undefined),
    )
    closing.push(() => server.close())
    const result = await fetched({ large: both.large })
    expect(result.summary).toMatchObject({ written: 1, failed: 0 })
    expect(bucket.objects.get('data/large.bin')?.equals(next)).toBe(true)
    expect(bucket.log).toContain('AbortMultipartUpload data/large.bin')
    expect(bucket.uploads.size).toBe(0)
  })

  it('may be empty', async () => {
    await scene({ files: { '/empty.bin': { bytes: Buffer.alloc(0) } } })
    expect((await fetched({ empty: { href: 'empty.bin' } })).summary).toMatchObject({ written: 1, failed: 0 })
    expect(bucket.objects.get('data/empty.bin')).toHaveLength(0)
  })

  it('keeps its planned name, whatever its server proposes', async () => {
    const headers = { 'content-disposition': 'attachment; filename="b04.tif"' }
    await scene({ files: { '/b04': { bytes: SMALL, headers } } })
    const result = await fetched({ a: { href: 'b04' } })
    expect(ofKind(result, 'written').map(({ file }) => file.name)).toEqual(['b04'])
  })

  it('leaves nothing in the bucket when the download is interrupted', async () => {
    const stop = new AbortController()
    await scene({
      onRequest: (operation) => {
        if (operation === 'UploadPart') stop.abort()
        return undefined
      },
    })
    const events = run([itemOf(server, { large: both.large })], { folder: 's3://mine/data', server, signal: stop.signal })
    await expect(events).rejects.toMatchObject({ code: 'ABORTED' })
    expect(bucket.log).toContain('AbortMultipartUpload data/large.bin')
    expect([...bucket.objects.keys(), ...bucket.uploads.keys()]).toEqual([])
  })
})

describe('the keys of a bucket', () => {
  it('go to the bucket only, and credentials of the files to their servers only', async () => {
    await scene()
    const credential = {
      id: 'source',
      type: 'http',
      scheme: 'bearer',
      token: 'token-of-the-source',
      sendTo: [`${server.origin}/`],
    } as const
    const auth = createAuth({ credentials: [credential], typed: [server.origin] })
    const item = itemOf(
      server,
      { small: { ...both.small, 'auth:refs': ['b'] } },
      { 'auth:schemes': { b: { type: 'http', scheme: 'bearer' } } },
    )
    const result = await run([item], { folder: 's3://mine/data', auth })
    expect(result.summary).toMatchObject({ written: 1 })
    expect(server.asked.map(({ authorization }) => authorization)).toEqual(['Bearer token-of-the-source'])
    expect(JSON.stringify(bucket.headers)).not.toContain('token-of-the-source')
    expect(bucket.headers.every(({ authorization }) => authorization?.includes('AKIDBUCKET'))).toBe(true)
    expect(JSON.stringify(server.asked)).not.toContain('AKIDBUCKET')
  })

  it('are missing, wrong or not allowed to write: each says so, and quotes no key', async () => {
    await scene({ onRequest: (operation) => (operation === 'PutObject' ? 403 : undefined) })
    const refused = await fetched({ small: both.small })
    expect(ofKind(refused, 'failed')[0]?.error).toMatchObject({
      code: 'FILE_ACCESS',
      message: 'cannot write "s3://mine/data/small.bin": AccessDenied (403)',
      hint: 'the keys need s3:ListBucket, s3:GetObject, s3:PutObject and s3:AbortMultipartUpload there',
    })
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wrong-secret')
    const wrong = await fetched({ small: both.small }).catch((error: unknown) => error)
    expect(wrong).toMatchObject({ code: 'FILE_ACCESS', message: expect.stringMatching(/^cannot list .*: SignatureDoesNotMatch \(403\)$/) })
    expect(JSON.stringify(wrong)).not.toMatch(/wrong-secret|AKIDBUCKET/)
    vi.stubEnv('AWS_ACCESS_KEY_ID', '')
    const missing = fetched({ small: both.small })
    await expect(missing).rejects.toMatchObject({ code: 'CREDENTIAL_SOURCE', hint: expect.stringContaining('AWS_PROFILE') })
    expect(server.asked).toHaveLength(1)
  })
})

describe('a bucket as the target', () => {
  it('needs two packages, and says how to install them', async () => {
    vi.doMock('@aws-sdk/lib-storage', () => {
      throw new Error('not installed')
    })
    onTestFinished(() => void vi.doUnmock('@aws-sdk/lib-storage'))
    await expect(new BucketClient('mine').head('a')).rejects.toMatchObject({
      code: 'SCHEME_UNSUPPORTED',
      message: 'a bucket cannot be used: the optional packages @aws-sdk/client-s3 and @aws-sdk/lib-storage are not installed',
      hint: 'npm install @aws-sdk/client-s3 @aws-sdk/lib-storage',
    })
  })

  it('is refused when its URL is malformed or leads out of itself', async () => {
    await scene()
    for (const folder of ['s3://', 's3://mine/a/../b', 's3://mine//a', 's3://mine/a?x=1', 's3://UP.x/%00/./a'])
      await expect(fetched({ small: both.small }, { folder }), folder).rejects.toMatchObject({ code: 'USAGE' })
  })

  it('takes no copies of documents and no ranges, and says so before the first request', async () => {
    await scene()
    await expect(fetched({ small: both.small }, { documents: true })).rejects.toMatchObject({ code: 'USAGE' })
    await expect(fetched({ small: both.small }, { ranges: 4 })).rejects.toMatchObject({ code: 'USAGE' })
    expect([server.asked, bucket.log]).toEqual([[], []])
  })

  it('gets a manifest of each run, from which a file on this machine is written as well', async () => {
    await scene()
    const manifest = join(await temporaryFolder(), 'manifest.ndjson')
    await fetched(both, { manifest })
    const lines = (await readFile(manifest, 'utf8')).trim().split('\n')
    expect(lines.slice(1).map((line) => JSON.parse(line).sha256)).toEqual(
      expect.arrayContaining([SMALL, LARGE].map((bytes) => createHash('sha256').update(bytes).digest('hex'))),
    )
    const kept = [...bucket.objects.keys()].filter((key) => key.startsWith('data/.stac-auth-manifest/'))
    expect(kept).toHaveLength(1)
    await fetched(both, { manifest })
    expect((await readFile(manifest, 'utf8')).trim().split('\n').sort()).toEqual([...lines].sort())
  })

  it('fails a file whose part is refused, and the others go on', async () => {
    await scene({ onRequest: (operation) => (operation === 'UploadPart' ? 403 : undefined) })
    const result = await fetched(both)
    expect(codesOf(result)).toEqual(['FILE_ACCESS'])
    expect(result.summary).toMatchObject({ written: 1, failed: 1 })
    expect(bucket.uploads.size).toBe(0)
  })

  it.each([true, false])('gets one identity of its queue, with conditional writes or without: %s', async (hasConditionalWrites) => {
    await scene({ hasConditionalWrites })
    const destination = await openDestination('s3://mine/data')
    const id = await identityOf(destination)
    expect(id).toMatch(/^[0-9a-f]{24}$/)
    expect(await identityOf(destination)).toBe(id)
    expect(await destination.createOwn('.stac-auth-queue', 'another')).toBe(false)
    expect(JSON.parse(bucket.objects.get('data/.stac-auth-queue')?.toString() ?? '')).toMatchObject({ id })
    expect(bucket.log.filter((line) => line.startsWith('PutObject'))).toHaveLength(hasConditionalWrites ? 2 : 3)
  })

  it('is asked through a tunnel of the proxy that the environment names', async () => {
    await scene()
    const proxy = await startTunnels()
    vi.stubEnv('http_proxy', proxy.url)
    vi.stubEnv('no_proxy', new URL(server.origin).host)
    const result = await fetched(both)
    expect(result.summary).toMatchObject({ written: 2, failed: 0 })
    expect(bucket.objects.get('data/large.bin')?.equals(LARGE)).toBe(true)
    expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${new URL(bucket.url).host} HTTP/1.1`]))
    expect(proxy.asked.length).toBeLessThan(bucket.log.length)
  })

  it('is not asked past a proxy that refuses it', async () => {
    await scene()
    const proxy = await startTunnels('HTTP/1.1 403 Forbidden\r\n\r\n')
    vi.stubEnv('AWS_ENDPOINT_URL', 'https://buckets.example')
    vi.stubEnv('https_proxy', proxy.url)
    await expect(new BucketClient('mine').head('a')).rejects.toMatchObject({ code: 'PROXY_REFUSED' })
    expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT buckets.example:443 HTTP/1.1']))
  })

  it('waits for a slow bucket without taking the server for a slow one', async () => {
    // The rate is looked at when this test says so: a busy machine makes no server slow.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    closing.push(async () => vi.useRealTimers())
    const add = vi.spyOn(BucketPart.prototype, 'write')
    closing.push(async () => add.mockRestore())
    let parts = 0
    const isHeld = () => parts >= 2 && add.mock.results.at(-1)?.value !== undefined
    const answerLate = async () => {
      // Both parts that are sent at a time are not answered until no more bytes are taken, and for four intervals after that.
      while (!isHeld()) await setImmediate()
      vi.advanceTimersByTime(400)
      return undefined
    }
    await scene({ onRequest: (operation) => (operation === 'UploadPart' && ++parts <= 2 ? answerLate() : undefined) })
    const result = await fetched({ large: both.large }, { stallTimeout: 100 })
    expect(result.summary).toMatchObject({ written: 1, failed: 0, retries: 0 })
    expect(parts).toBe(3)
  })
})
