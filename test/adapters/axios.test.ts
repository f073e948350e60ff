import { isAxiosError } from 'axios'
import { expect, it } from 'vitest'
import { clientOf } from '../../examples/adapters/axios.ts'
import { authorizeWith } from '../../src/adapters/axios.ts'
import type { Auth } from '../../src/auth/auth.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { AbortedError } from '../../src/errors.ts'
import { failureOf } from '../harness/failure.ts'
import { startArchive } from './archive.ts'
import { keepsTheGrant } from './grant.ts'

const files = { 'a.json': '{"a":1}' }

/** The causes of an error, at most five. */
function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = []
  for (let { cause } = Object(error); cause !== undefined && causes.length < 5; { cause } = Object(cause)) causes.push(cause)
  return causes
}

keepsTheGrant({
  files,
  name: 'a.json',
  read: async (auth, target) => (await clientOf(auth).get(new URL(target.href, target.scope.url).href)).data,
  expected: { a: 1 },
})

it('uses the references of a target where there is one, and the code of the engine for a refusal', async () => {
  const archive = await startArchive(files)
  const axios = (await import('axios')).default.create({ baseURL: archive.origin })
  axios.interceptors.request.use(authorizeWith(archive.engine(), archive.target('/files/')))
  expect((await axios.get('/files/a.json')).data).toEqual({ a: 1 })
  const refused = await failureOf(axios.get(`${archive.stranger.origin}/files/a.json`))
  expect(isAxiosError(refused)).toBe(true)
  expect(refused).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
  expect(archive.stranger.connections).toBe(0)
  await archive.close()
})

it('fails as plain axios does when a request is aborted or times out, without a loop of causes', async () => {
  const auth = createAuth({
    credentials: [],
    transport: (_request, { signal } = {}) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  })
  const aborting = new AbortController()
  setTimeout(() => aborting.abort(), 50)
  const aborted = await failureOf(clientOf(auth).get('https://data.example/a.json', { signal: aborting.signal }))
  const late = await failureOf(clientOf(auth).get('https://data.example/a.json', { timeout: 50 }))
  expect([aborted, late]).toMatchObject([{ code: 'ERR_CANCELED' }, { code: 'ETIMEDOUT' }])
  for (const error of [aborted, late]) expect(causesOf(error).includes(error)).toBe(false)
})

it.each([undefined, 'the prompt was closed', new Error('of a login')])(
  'keeps ABORTED for a call that axios did not abort: %j',
  async (reason) => {
    const auth = { fetch: () => Promise.reject(new AbortedError(reason)) } as unknown as Auth
    expect(await failureOf(clientOf(auth).get('https://data.example/a.json'))).toMatchObject({ name: 'AbortError', code: 'ABORTED' })
  },
)

it('axios does not add its name, which archives would have to allow for pages in Firefox and Safari', async () => {
  const names: (string | null)[] = []
  const auth = {
    fetch: async (input: Request) => {
      names.push(input.headers.get('user-agent'))
      return Response.json({})
    },
  } as unknown as Auth
  const client = clientOf(auth)
  await client.get('https://data.example/a.json')
  await client.get('https://data.example/a.json', { headers: { 'user-agent': 'mine/1' } })
  expect(names).toEqual([null, 'mine/1'])
})
