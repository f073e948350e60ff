import { describe, expect, it } from 'vitest'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { failureOf } from '../../harness/failure.ts'
import { KNOWN } from '../../servers/time-tracking/options.ts'
import { clientOf, timeTracking } from './service.ts'

describe('a failure', () => {
  it.each([
    ['message', 'There is no 9 in projects', undefined],
    ['error', 'There is no 9 in projects', 'E404'],
    ['errors', 'There is no 9 in projects', undefined],
    ['text', 'There is no 9 in projects', undefined],
    ['empty', '404', undefined],
  ] as const)('a failure has its class and its message in the shape %s', async (errorShape, message, serviceCode) => {
    const service = await timeTracking({ errorShape })
    const error = await failureOf(clientOf(service).client.projects.get(9))
    expect(error).toMatchObject({ name: 'NotFoundError', code: 'HTTP_404', status: 404, operation: 'projects.get', attempts: 1 })
    expect(error.message).toContain(message)
    expect((error as { serviceCode?: string }).serviceCode).toBe(serviceCode)
  })

  it.each([
    [400, 'BadRequestError'],
    [401, 'AuthenticationError'],
    [403, 'PermissionError'],
    [409, 'ConflictError'],
    [418, 'HttpError'],
    [422, 'HttpError'],
    [429, 'RateLimitError'],
    [500, 'ServerError'],
    [503, 'UnavailableError'],
    [599, 'ServerError'],
  ])('a failure of status %i is a %s, whatever the body is', async (status, name) => {
    const service = await timeTracking()
    const { client, clock } = clientOf(service)
    for (const fault of [
      { body: '' },
      { body: '<html>no</html>' },
      { body: '{"a":' },
      { body: [1] },
      { body: { message: 7 } },
      { body: '\xff' },
    ]) {
      service.script({ do: { status, ...fault } })
      expect(await clock.run(failureOf(client.projects.list({ retry: false })))).toMatchObject({ name, status, code: `HTTP_${status}` })
    }
  })

  it('names every field that is wrong', async () => {
    const service = await timeTracking({ errorShape: 'errors' })
    const error = await failureOf(clientOf(service).client.projects.create({ name: 'a', privacy: 3 as never, rate: 'much' }))
    expect(error.message).toContain('privacy: has an invalid value; rate: has an invalid value')
  })

  it('shows no token, also when the server repeats it', async () => {
    const token = canaryOf('tok+en/with-8c1f2e==')
    const service = await timeTracking({ tokens: { [token.value]: KNOWN.userAgent } })
    const { client } = clientOf(service, { token: token.value })
    const seen: unknown[] = []
    for (const name of ['request', 'response'] as const) client.on(name, (event) => seen.push(event))
    service.script({ do: { status: 400, body: { message: `bad ${token.value}`, errors: [encodeURIComponent(token.value)] } } })
    seen.push(await failureOf(client.projects.list()))
    service.script({ do: { body: `not JSON: ${token.value}`, status: 200 } })
    seen.push(await failureOf(client.projects.list({ retry: false })))
    service.script({ do: { resetBefore: true } })
    seen.push(await failureOf(client.projects.list({ retry: false })))
    expect(seen).toHaveLength(8)
    expect(leaks([token], Object.fromEntries(seen.map((value, index) => [String(index), shown(value)])))).toEqual([])
  })
})

describe('a success', () => {
  it('a success without a body is undefined', async () => {
    const service = await timeTracking()
    service.script({ times: 2, do: { status: 200, body: '' } })
    const { client } = clientOf(service)
    expect((await client.request('GET', '/projects')).data).toBeUndefined()
    await expect(client.projects.list()).rejects.toMatchObject({ code: 'RESPONSE_INVALID' })
  })

  it('a success that is not JSON is reported with its type and beginning, or given as bytes', async () => {
    const service = await timeTracking()
    service.script({ times: 2, do: { htmlBody: true } })
    const { client } = clientOf(service)
    expect(await failureOf(client.request('GET', '/projects', { retry: false }))).toMatchObject({
      ...{ name: 'ProtocolError', code: 'RESPONSE_INVALID', contentType: 'text/html' },
      snippet: expect.stringMatching(/^<!DOCTYPE html>/),
    })
    const { data, headers } = await client.request<Uint8Array>('GET', '/projects', { parse: 'raw' })
    expect([headers.get('content-type'), new TextDecoder().decode(data).slice(0, 15)]).toEqual(['text/html', '<!DOCTYPE html>'])
  })

  it.each(['none', 'items'] as const)('a success is understood in another envelope: %s', async (envelope) => {
    const service = await timeTracking({ envelope })
    const { client } = clientOf(service)
    expect((await client.projects.list()).map(({ id }) => id)).toEqual([60, 61])
    expect((await client.projects.get(60)).name).toBe('Website')
  })

  it('a success is kept whole where it is no envelope', async () => {
    const service = await timeTracking()
    service.state.collections.set('notes', new Map([['1', { data: 'text', id: 1 }]]))
    Object.assign(service.state.switches, { envelope: 'none' })
    expect(await clientOf(service).client.resource('notes').get(1)).toEqual({ data: 'text', id: 1 })
  })
})

it('retries a service that is away no longer than it says', async () => {
  const service = await timeTracking()
  service.script({ do: { status: 503, retryAfter: 61 } })
  const { client, clock } = clientOf(service)
  expect(await clock.run(failureOf(client.projects.list()))).toMatchObject({ name: 'UnavailableError', retryAfterMs: 61_000, attempts: 1 })
})
