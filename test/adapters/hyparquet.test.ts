import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readParquet } from '../../examples/adapters/hyparquet.ts'
import { parquetFile } from '../../src/adapters/hyparquet.ts'
import { failureOf } from '../harness/failure.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { startArchive } from './archive.ts'
import { keepsTheGrant } from './grant.ts'

const columnData = [{ name: 'scene', data: ['one', 'two'] }]
const files = { 'a.parquet': new Uint8Array(parquetWriteBuffer({ columnData })) }

keepsTheGrant({ files, name: 'a.parquet', read: readParquet, expected: [{ scene: 'one' }, { scene: 'two' }] })

describe('the length of a file', () => {
  const answers: Readonly<Record<string, { status: number; headers?: Readonly<Record<string, string>>; body?: string }>> = {
    '/whole': { status: 200, body: '12345' },
    '/unknown': { status: 206, headers: { 'content-range': 'bytes 0-0/*' }, body: '1' },
    '/other': { status: 206, headers: { 'content-range': 'bytes 5-5/9' }, body: '1' },
    '/gone': { status: 404 },
  }
  let server: AnsweringServer
  beforeAll(async () => {
    server = await startAnswering(({ path }) => answers[path] ?? { status: 500 })
  })
  afterAll(() => server.close())

  const length = async (path: string) => {
    const archive = await startArchive({})
    await archive.close()
    return parquetFile(archive.engine(undefined, server.origin), archive.target(server.origin + path))
  }

  it('the length of a file is that of the whole where the server does no parts', async () => {
    expect(await length('/whole')).toMatchObject({ byteLength: 5 })
  })

  it.each([
    ['/unknown', 'RANGE_INVALID'],
    ['/other', 'RANGE_INVALID'],
    ['/gone', 'HTTP_404'],
  ])('the length of a file of %s is %s', async (path, code) => {
    expect(await failureOf(length(path))).toMatchObject({ name: 'ProtocolError', code })
  })
})
