import { expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { jsonAnswer, startAnswering } from '../../servers/answering-server.ts'
import { clientOf, operation, service } from './service.ts'

const safe = operation('safe', 'GET')
const never = () => new Promise<never>(() => {})
const NO_TOTAL = { attempt: 1000, total: false } as const

/** Lets the call come to where it hangs. */
async function reached(what: () => boolean): Promise<void> {
  await expect.poll(what).toBe(true)
}

it.each([
  ['its own', NO_TOTAL, 'TIMEOUT_ATTEMPT'],
  ['the deadline of the call', { attempt: 60_000, total: 900 }, 'TIMEOUT_TOTAL'],
] as const)('an attempt ends in time while its credential is asked for: %s', async (_what, timeouts, code) => {
  const { origin, exchanges } = await service(() => ({ status: 200 }))
  let asked = 0
  const value = () => {
    asked++
    return never()
  }
  const { client, clock } = clientOf(origin, { credential: { type: 'apiKey', in: 'header', name: 'authorization', value }, timeouts })
  const call = failureOf(client.call(safe, {}, { retry: false }))
  await reached(() => asked > 0)
  clock.advance(1100)
  expect(await call).toMatchObject({ code, attempts: 0, operation: 'things.safe' })
  expect(exchanges).toHaveLength(0)
})

it('a credential that comes too late sends nothing', async () => {
  const { origin, exchanges } = await service(() => ({ status: 200 }))
  const late: ((value: string) => void)[] = []
  const value = () => new Promise<string>((resolve) => late.push(resolve))
  const { client, clock } = clientOf(origin, {
    credential: { type: 'apiKey', in: 'header', name: 'authorization', value },
    timeouts: NO_TOTAL,
  })
  const call = failureOf(client.call(safe, {}, { retry: false }))
  await reached(() => late.length > 0)
  clock.advance(1100)
  await call
  for (const resolve of late) resolve('Token too-late')
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(exchanges).toHaveLength(0)
})

it.each(['before', 'after'] as const)('a call ends while an interceptor hangs: %s', async (phase) => {
  const { origin } = await service(() => ({ status: 200 }))
  for (const [end, code] of [
    ['clock', 'TIMEOUT_ATTEMPT'],
    ['caller', 'ABORTED'],
  ] as const) {
    let asked = false
    const hang = () => {
      asked = true
      return never()
    }
    const { client, clock } = clientOf(origin, { timeouts: NO_TOTAL })
    const controller = new AbortController()
    const call = failureOf(client.use({ [phase]: hang }).call(safe, {}, { signal: controller.signal, retry: false }))
    await reached(() => asked)
    if (end === 'clock') clock.advance(1100)
    else controller.abort('enough')
    expect(await call).toMatchObject({ code })
    expect(clock.pending()).toBe(0)
  }
})

it('what a caller’s function throws is not shown', async () => {
  const { origin } = await service(() => ({ status: 500 }))
  const boom = () => {
    throw new TypeError('the secret text')
  }
  const calls = [
    clientOf(origin).client.use({ before: boom }).call(safe),
    clientOf(origin).client.use({ after: boom }).call(safe),
    clientOf(origin).client.call(safe, {}, { retry: { on: boom } }),
    clientOf(origin).client.call(operation('unsafe'), { content: boom }),
  ]
  for (const error of await Promise.all(calls.map(failureOf))) {
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', operation: expect.stringContaining('things.') })
    expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain('the secret text')
  }
})

it.each([
  [
    'a stream that fails',
    async function* () {
      yield new Uint8Array(1)
      throw new TypeError('the secret text')
    },
  ],
  ['a value that is not a stream', () => new FormData() as never],
])('%s is an error of the caller: it is read once, and its error is not shown', async (_what, stream) => {
  const { origin } = await service(() => ({ status: 200 }))
  let read = 0
  const content = () => {
    read++
    return stream()
  }
  const error = await failureOf(clientOf(origin).client.call(operation('idem'), { content }))
  expect(error).toMatchObject({ code: 'CONFIG_INVALID', operation: 'things.idem' })
  expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain('the secret text')
  expect(read).toBe(1)
})

it.each<[input: object, field: string, options?: object]>([
  [{ query: new URLSearchParams('a=1') }, 'query'],
  [{ query: new Map([['a', 1]]) }, 'query'],
  [{ body: new Map([['a', 1]]) }, 'body'],
  [{ body: { tags: new Set(['a']) } }, 'body.tags'],
  [{}, 'extraBody', { extraBody: new Map([['a', 1]]) }],
])('refuses a collection whose content would be lost: %o', async (input, field, options: object = {}) => {
  const { origin, exchanges } = await service(() => ({ status: 200 }))
  const error = await failureOf(clientOf(origin).client.call(operation('idem'), input as never, options))
  expect(error).toMatchObject({ code: 'REQUEST_INVALID', field, attempts: 0 })
  expect(exchanges).toHaveLength(0)
})

it('an error of the family as the reason of an abort is wrapped, and left as it was', async () => {
  const { origin } = await service(() => ({ status: 200 }))
  const { client } = clientOf(origin)
  const reason = await failureOf(client.call(safe, {}, { deadline: new Date(Number.NaN) }))
  const before = { ...reason }
  const error = await failureOf(client.call(safe, {}, { signal: AbortSignal.abort(reason) }))
  expect(error).toMatchObject({ code: 'ABORTED', attempts: 0 })
  expect(error.cause).toBe(reason)
  expect({ ...reason }).toEqual(before)
})

it('a stream that can be read once is not sent a second time, empty', async () => {
  const bodies: string[] = []
  const server = await startAnswering(({ body }) => {
    bodies.push(body)
    return { ...jsonAnswer(401, {}), headers: { 'www-authenticate': 'Digest realm="a", nonce="b", qop="auth", algorithm=SHA-256' } }
  })
  const { client } = clientOf(server.origin, { credential: { type: 'http', scheme: 'digest', username: 'ada', password: 'pa55word' } })
  const content = new Blob(['whole body']).stream()
  const error = await failureOf(client.call(operation('unsafe'), { content }))
  await server.close()
  expect(error).toMatchObject({ code: 'REQUEST_INVALID', field: 'content', attempts: 1 })
  expect(bodies).toEqual(['whole body'])
})

it.each([
  [{ deadline: new Date(Number.NaN) }, 'deadline'],
  [{ totalTimeout: Number.NaN }, 'totalTimeout'],
  [{ timeout: Number.NaN }, 'timeout'],
  [{ timeout: '300' }, 'timeout'],
  [{ totalTimeout: '300' }, 'totalTimeout'],
  [{ deadline: '2026-01-02' }, 'deadline'],
  [{ retry: { retries: Number.NaN } }, 'retry.retries'],
])('refuses a time that would end nothing: %o', async (options, field) => {
  const { origin, exchanges } = await service(() => ({ status: 200 }))
  expect(await failureOf(clientOf(origin).client.call(safe, {}, options as never))).toMatchObject({
    code: 'REQUEST_INVALID',
    field,
    attempts: 0,
  })
  expect(exchanges).toHaveLength(0)
})

it('takes a timeout that is undefined for one that no one chose', async () => {
  let asked = false
  const { origin } = await service(() => {
    asked = true
    return never()
  })
  const clock = new FakeClock()
  const timeouts = { total: undefined, attempt: undefined } as never
  const { client } = clientOf(origin, { timeouts, clock })
  const call = failureOf(client.call(safe, {}, { retry: false }))
  await reached(() => asked)
  clock.advance(30_100)
  expect(await call).toMatchObject({ code: 'TIMEOUT_ATTEMPT' })
})

it.each([
  [{ timeouts: { total: Number.NaN } }, 'timeouts.total is not a number'],
  [{ timeouts: { attempt: '300' } }, 'timeouts.attempt is not a number'],
  [{ retries: Number(undefined) }, 'retries is not a number'],
  [{ maxRetryAfter: '60' }, 'maxRetryAfter is not a number'],
])('refuses a client whose calls would not end, or would be retried without end: %o', (options, message) => {
  expect(() => clientOf('https://127.0.0.1', options as never)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', message }))
})
