import { afterEach, expect, it } from 'vitest'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { run } from './run.ts'

const NUMBERS = ['12345678901234567890', '-9007199254740993', '12.50', '0.12345678901234567890', '1e400', '-0', '1E5', '7', '1.5']

let server: AnsweringServer
afterEach(() => server.close())

/** A service whose answers are written by hand, so that every digit counts. */
async function time(body: string, ...words: readonly string[]) {
  server = await startAnswering(({ headers }) =>
    headers.authorization === 'Bearer secret-token'
      ? { status: 200, headers: { 'content-type': 'application/json' }, body }
      : { status: 401, body: '{}' },
  )
  const env = { STAC_AUTH_TIME_URL: `${server.origin}/api/v1`, STAC_AUTH_TIME_TOKEN: 'secret-token' }
  const { code, stdout } = await run(['time', 'projects', ...words, '--allow-insecure'], { env })
  expect(code).toBe(0)
  return stdout
}

it.each(NUMBERS)('prints %s as the service wrote it, in records and lists, as JSON and for people', async (number) => {
  expect(await time(`{"id":${number},"deep":[{"n":[${number}, 1]}]}`, 'get', '1', '--json')).toBe(
    `{\n  "id": ${number},\n  "deep": [\n    {\n      "n": [\n        ${number},\n        1\n      ]\n    }\n  ]\n}\n`,
  )
  await server.close()
  expect(await time(`[{"id":${number}}]`, 'list', '--json')).toBe(`[\n  {\n    "id": ${number}\n  }\n]\n`)
  await server.close()
  expect(await time(`{"data":{"id":${number},"more":{"n":${number}}}}`, 'get', '1')).toBe(`id: ${number}\nmore: {"n":${number}}\n`)
  await server.close()
  expect(await time(`[{"id":${number},"name":"a"}]`, 'list')).toBe(`${number}  a\n`)
})

it('leaves digits in texts and names unchanged, escapes included', async () => {
  const record = { '12345678901234567890': '12.50', 'a"1.0': 'x \\" 1e400 \\', b: '"12345678901234567890"' }
  expect(JSON.parse(await time(JSON.stringify(record), 'get', '1', '--json'))).toEqual(record)
})
