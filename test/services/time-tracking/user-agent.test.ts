import { expect, it } from 'vitest'
import { KNOWN } from '../../servers/time-tracking/options.ts'
import { clientOf, timeTracking } from './service.ts'

it('the User-Agent is the same on every request, retries and failures included', async () => {
  const service = await timeTracking()
  service.script({ match: { op: 'projects.list' }, do: { status: 503 } })
  service.script({ match: { op: 'projects.get' }, do: { resetBefore: true } })
  const { client, clock } = clientOf(service)
  await clock.run(client.projects.list())
  await clock.run(client.projects.get(60))
  await client.projects.get(999).catch(() => undefined)
  await client.request('GET', '/projects', { headers: { 'X-Request-Id': 'a' } })
  await client.auth.revoke()
  expect(service.log.map(({ headers }) => headers['user-agent'])).toEqual(Array(7).fill(KNOWN.userAgent))
})

it.each(['User-Agent', 'user-agent', 'Authorization', 'X-Api-Token'])('a call cannot change the User-Agent or %s', async (name) => {
  const service = await timeTracking()
  const { client } = clientOf(service)
  await expect(client.projects.list({ headers: { [name]: 'other' } })).rejects.toMatchObject({
    name: 'ValidationError',
    field: `headers.${name.toLowerCase()}`,
  })
  expect(service.requests()).toBe(0)
  expect(await client.projects.list()).toHaveLength(2)
})

it('the User-Agent has no version by default, and a wrong one is reported', async () => {
  const service = await timeTracking({ tokens: { 'another-token-1': 'stac-auth-time-tracking' } })
  const { client } = clientOf(service, { token: 'another-token-1', userAgent: undefined as never })
  expect(await client.projects.list()).toHaveLength(2)
  const { client: other } = clientOf(service, { token: 'another-token-1', userAgent: 'acme-sync/2' })
  await expect(other.projects.list()).rejects.toMatchObject({ name: 'AuthenticationError', hint: expect.stringContaining('User-Agent') })
  await expect(client.projects.list()).rejects.toMatchObject({ code: 'HTTP_401', attempts: 1 })
  expect(service.log.map(({ status }) => status)).toEqual([200, 401, 401])
})
