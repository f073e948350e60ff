/** Large files of which an earlier run has left pieces. */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { noise, type ServedContent, tagOf } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run, SMALL_RANGES, serveFiles } from './fixture.ts'

const MiB = 2 ** 20
/** What is a range of 16 MiB otherwise: {@link SMALL_RANGES}. */
const PIECE = MiB
const UNIT = PIECE / 16
const bytes = noise(100 * UNIT)

/** Goes on where those spans of the file are there. */
async function resumed(
  spans: readonly (readonly [number, number])[],
  {
    before = bytes,
    content = { bytes: before },
    ...options
  }: { readonly before?: Buffer; readonly content?: ServedContent; readonly ranges?: number } = {},
) {
  const server = await serveFiles(() => content)
  const folder = await temporaryFolder()
  const part = Buffer.alloc(Math.max(...spans.map(([, end]) => end)))
  for (const [start, end] of spans) before.copy(part, start, start, end)
  await writeFile(join(folder, 'data.bin.part'), part)
  const version = { format: 1, url: `${server.origin}/data.bin`, validator: tagOf(before), size: before.length }
  await writeFile(join(folder, 'data.bin.part.json'), [version, ...spans].map((line) => `${JSON.stringify(line)}\n`).join(''))
  const result = await run([itemOf(server, { data: { href: 'data.bin' } })], {
    folder,
    server,
    ranges: 4,
    ...(before === bytes && SMALL_RANGES),
    ...options,
  })
  expect(codesOf(result)).toEqual([])
  return { result, ranges: server.asked.map(({ range }) => range), file: (await filesIn(folder))['data.bin'], sent: server.sent }
}

const sha256 = (file: Buffer | undefined) =>
  createHash('sha256')
    .update(file ?? '')
    .digest('hex')

it('asks each request for one piece: nothing is sent that no one takes', async () => {
  const before = noise(68 * MiB)
  const { result, ranges, file, sent } = await resumed([[0, 3 * MiB]], { before })
  expect(sha256(file)).toBe(sha256(before))
  expect(ranges[0]).toBe(`bytes=${3 * MiB}-${19 * MiB - 1}`)
  expect(ranges).toHaveLength(5)
  expect(result.summary.received).toBe(65 * MiB)
  expect(sent).toBe(65 * MiB)
})

it('requests the first gap first, up to what is there', async () => {
  const { ranges, file, sent } = await resumed([
    [0, 3 * UNIT],
    [5 * UNIT, 40 * UNIT],
  ])
  expect(sha256(file)).toBe(sha256(bytes))
  expect(ranges[0]).toBe(`bytes=${3 * UNIT}-${5 * UNIT - 1}`)
  expect(sent).toBe(62 * UNIT)
})

it('requests one gap after the other where one request at a time is wanted', async () => {
  const gaps = [
    [0, UNIT],
    [70 * UNIT, 90 * UNIT],
  ] as const
  const { ranges, file, sent } = await resumed(gaps, { ranges: 1 })
  expect(sha256(file)).toBe(sha256(bytes))
  expect(ranges[0]).toBe(`bytes=${UNIT}-${70 * UNIT - 1}`)
  expect(sent).toBe(79 * UNIT)
})

it('keeps pieces behind a beginning that is missing', async () => {
  const { result, ranges, file, sent } = await resumed([[PIECE, 2 * PIECE]])
  expect(sha256(file)).toBe(sha256(bytes))
  expect(ranges[0]).toBe(`bytes=0-${PIECE - 1}`)
  expect(sent).toBe(bytes.length - PIECE)
  expect(ofKind(result, 'started')[0]?.resumed).toBe(0)
})

it.each([
  ['the beginning is there', [[0, 3 * UNIT]]],
  ['the beginning is missing', [[PIECE, 2 * PIECE]]],
] as const)('keeps nothing of a file that is another one by now, where %s', async (_, spans) => {
  const next = noise(bytes.length, 'b')
  const { ranges, file } = await resumed(spans, { content: { bytes: next } })
  expect(sha256(file)).toBe(sha256(next))
  expect(ranges[0]).toMatch(/^bytes=\d+-\d+$/)
})

it('starts again from byte 0 where parts come without their entity tag', async () => {
  const headers = { etag: tagOf(bytes) }
  const server = await serveFiles(
    () => ({ bytes }),
    ({ range }) => (range ? { headers: { etag: '' } } : { headers }),
  )
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'data.bin.part'), bytes.subarray(0, UNIT))
  const version = { format: 1, url: `${server.origin}/data.bin`, validator: tagOf(bytes), size: bytes.length }
  await writeFile(join(folder, 'data.bin.part.json'), `${JSON.stringify(version)}\n${JSON.stringify([0, UNIT])}\n`)
  const result = await run([itemOf(server, { data: { href: 'data.bin' } })], { folder, server, ranges: 4, ...SMALL_RANGES })
  expect(codesOf(result)).toEqual([])
  expect(result.summary.retries).toBe(1)
  expect(sha256((await filesIn(folder))['data.bin'])).toBe(sha256(bytes))
})
