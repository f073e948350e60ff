/** Large files of which an earlier run has left pieces. */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { type FileServer, type ServedContent, startFileServer, tagOf } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run } from './fixture.ts'
import { largeFile } from './large-file.ts'

const MiB = 2 ** 20
const PIECE = 16 * MiB
const bytes = largeFile(100, 'a')

const servers: FileServer[] = []
afterEach(async () => {
  const violations = servers.flatMap((server) => server.violations)
  for (const server of servers.splice(0)) await server.close()
  expect(violations).toEqual([])
})

/** Goes on where those spans of the file are there. */
async function resumed(spans: readonly (readonly [number, number])[], content: ServedContent = { bytes }, options = {}) {
  const server = await startFileServer(() => content)
  servers.push(server)
  const folder = await temporaryFolder()
  const part = Buffer.alloc(Math.max(...spans.map(([, end]) => end)))
  for (const [start, end] of spans) bytes.copy(part, start, start, end)
  await writeFile(join(folder, 'data.bin.part'), part)
  const version = { format: 1, url: `${server.origin}/data.bin`, validator: tagOf(bytes), size: bytes.length }
  await writeFile(join(folder, 'data.bin.part.json'), [version, ...spans].map((line) => `${JSON.stringify(line)}\n`).join(''))
  const result = await run([itemOf(server, { data: { href: 'data.bin' } })], { folder, server, ranges: 4, ...options })
  expect(codesOf(result)).toEqual([])
  return { result, ranges: server.asked.map(({ range }) => range), file: (await filesIn(folder))['data.bin'], sent: server.sent }
}

const sha256 = (file: Buffer | undefined) =>
  createHash('sha256')
    .update(file ?? '')
    .digest('hex')

it('asks each request for one piece: nothing is sent that no one takes', async () => {
  const { result, ranges, file, sent } = await resumed([[0, 3 * MiB]])
  expect(sha256(file)).toBe(sha256(bytes))
  expect(ranges[0]).toBe(`bytes=${3 * MiB}-${3 * MiB + PIECE - 1}`)
  expect(ranges).toHaveLength(7)
  expect(result.summary.received).toBe(97 * MiB)
  expect(sent).toBe(97 * MiB)
})

it('requests the first gap first, up to what is there', async () => {
  const { ranges, file, sent } = await resumed([
    [0, 3 * MiB],
    [5 * MiB, 40 * MiB],
  ])
  expect(sha256(file)).toBe(sha256(bytes))
  expect(ranges[0]).toBe(`bytes=${3 * MiB}-${5 * MiB - 1}`)
  expect(sent).toBe(62 * MiB)
})

it('requests one gap after the other where one request at a time is wanted', async () => {
  const gaps = [
    [0, MiB],
    [70 * MiB, 90 * MiB],
  ] as const
  const { ranges, file, sent } = await resumed(gaps, undefined, { ranges: 1 })
  expect(sha256(file)).toBe(sha256(bytes))
  expect(ranges[0]).toBe(`bytes=${MiB}-${70 * MiB - 1}`)
  expect(sent).toBe(79 * MiB)
})

it('keeps pieces behind a beginning that is missing', async () => {
  const { result, ranges, file, sent } = await resumed([[PIECE, 2 * PIECE]])
  expect(sha256(file)).toBe(sha256(bytes))
  expect(ranges[0]).toBe(`bytes=0-${PIECE - 1}`)
  expect(sent).toBe(bytes.length - PIECE)
  expect(ofKind(result, 'started')[0]?.resumed).toBe(0)
})

it.each([
  ['the beginning is there', [[0, 3 * MiB]]],
  ['the beginning is missing', [[PIECE, 2 * PIECE]]],
] as const)('keeps nothing of a file that is another one by now, where %s', async (_, spans) => {
  const next = largeFile(100, 'b')
  const { ranges, file } = await resumed(spans, { bytes: next })
  expect(sha256(file)).toBe(sha256(next))
  expect(ranges[0]).toMatch(/^bytes=\d+-\d+$/)
})

it('starts again from byte 0 where parts come without their entity tag', async () => {
  const headers = { etag: tagOf(bytes) }
  const server = await startFileServer(
    () => ({ bytes }),
    ({ range }) => (range ? { headers: { etag: '' } } : { headers }),
  )
  servers.push(server)
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'data.bin.part'), bytes.subarray(0, MiB))
  const version = { format: 1, url: `${server.origin}/data.bin`, validator: tagOf(bytes), size: bytes.length }
  await writeFile(join(folder, 'data.bin.part.json'), `${JSON.stringify(version)}\n${JSON.stringify([0, MiB])}\n`)
  const result = await run([itemOf(server, { data: { href: 'data.bin' } })], { folder, server, ranges: 4 })
  expect(codesOf(result)).toEqual([])
  expect(result.summary.retries).toBe(1)
  expect(sha256((await filesIn(folder))['data.bin'])).toBe(sha256(bytes))
})
