import { expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { fakeClient } from './fake-client.ts'

const ADMIN = { apiKey: 'test-admin' }

it('creates, names, limits and deactivates keys, and sends null but not undefined', async () => {
  const { client, fake } = await fakeClient(ADMIN)
  const { keys } = client.admin
  const key = await keys.create({ label: 'One' })
  expect(key).toMatchObject({ label: 'One', is_deactivated: false, response: { status: 200, attempts: 1 } })
  expect(key.response.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(Object.keys(key)).not.toContain('response')
  const { key_id } = key
  expect(await keys.rename({ key_id, label: 'Two' })).toMatchObject({ label: 'Two' })
  const zero = await keys.setLimits({ key_id, characters: 0, speech_to_text_milliseconds: undefined })
  expect(zero.usage_limits).toEqual({ characters: 0, speech_to_text_milliseconds: null })
  expect((await keys.setLimits({ key_id, characters: null })).usage_limits.characters).toBeNull()
  expect(fake.log.at(-1)?.body).toBe(JSON.stringify({ key_id, characters: null }))
  expect(await keys.deactivate({ key_id })).toMatchObject({ is_deactivated: true })
  expect((await keys.deactivate({ key_id })).deactivated_time).toMatch(/^2026-/)
  expect((await keys.list()).map(({ label }) => label)).toContain('Two')
  expect(await failureOf(keys.rename({ key_id: 'none', label: 'a' }))).toMatchObject({ code: 'HTTP_404', operation: 'admin.keys.rename' })
})

it('the admin API is for administrators only', async () => {
  const { client } = await fakeClient()
  expect(await failureOf(client.admin.keys.list())).toMatchObject({ name: 'PermissionError', code: 'HTTP_403', attempts: 1 })
  expect(await client.withCredential('test-admin').admin.keys.list()).toMatchObject([{ label: 'test-pro' }])
})

it('never creates a key twice, and repeats what may be repeated', async () => {
  const { client, fake, clock } = await fakeClient(ADMIN)
  fake.script({ match: { op: 3 }, do: { status: 500 } })
  expect(await failureOf(client.admin.keys.create())).toMatchObject({ name: 'ServerError', attempts: 1 })
  fake.script({ match: { op: 4 }, times: 2, do: { status: 500 } })
  expect((await clock.run(client.admin.keys.list())).response.attempts).toBe(3)
})

it.each([
  ['2024-01-01', '2025-01-01', 366],
  ['2023-01-01', '2024-01-02', 366],
])('requests a report of exactly 366 days: %s to %s', async (start_date, end_date) => {
  const { client } = await fakeClient(ADMIN)
  const { usage_report } = await client.admin.usage({ start_date, end_date, group_by: '' })
  expect(usage_report).toMatchObject({ start_date: `${start_date}T00:00:00`, total_usage: { total_characters: 0 } })
  expect(usage_report.group_by).toBeUndefined()
})

it('refuses a report of 367 days before it is requested, unless nothing is to be checked', async () => {
  const { client, fake } = await fakeClient(ADMIN)
  const range = { start_date: '2024-01-01', end_date: '2025-01-02' }
  for (const refused of [client.admin.usage(range), client.admin.customTagUsage(range)])
    expect(await failureOf(refused)).toMatchObject({ name: 'ValidationError', code: 'REQUEST_INVALID', field: 'end_date', limit: 366 })
  const hour = client.admin.usage({ start_date: '2024-01-01T00:00:00Z', end_date: '2025-01-01T01:00:00Z' })
  expect((await failureOf(hour)).message).toContain('at most 366 days, these are 367')
  expect(fake.log).toHaveLength(0)
  expect(await failureOf(client.admin.usage(range, { validate: 'document' }))).toMatchObject({ code: 'REQUEST_INVALID', limit: 366 })
  const asked = await failureOf(client.admin.usage(range, { validate: 'off' }))
  expect(asked).toMatchObject({ name: 'BadRequestError', message: expect.stringContaining('366 days') })
})

it('says what a response has instead of a list', async () => {
  const { client, fake } = await fakeClient(ADMIN)
  fake.script({ match: { op: 4 }, do: { status: 200, body: { keys: [] } } })
  expect((await failureOf(client.admin.keys.list())).message).toContain('expected a list in the response, received a record')
})

it('groups by key and by day, and names what the service does not allow', async () => {
  const { client } = await fakeClient(ADMIN)
  const user = client.withCredential('test-pro')
  await user.request('POST', '/v2/translate', { json: { text: ['Hello'], target_lang: 'DE' }, replay: 'idem' })
  const range = { start_date: '2026-01-01', end_date: '2026-12-31' }
  const { usage_report: byKey } = await client.admin.usage({ ...range, group_by: 'key' })
  expect(byKey.key_usages).toEqual([
    expect.objectContaining({ api_key: 'test****-pro', usage: expect.objectContaining({ total_characters: 5 }) }),
  ])
  const { usage_report: byDay } = await client.admin.usage({ ...range, group_by: 'key_and_day' })
  expect(byDay.key_and_day_usages?.[0]?.usage_date).toMatch(/^2026-.*Z$/)
  expect(await failureOf(client.admin.usage({ ...range, group_by: 'day' as 'key' }))).toMatchObject({ code: 'HTTP_400' })
})

it('pages through what was used under each tag', async () => {
  const { client, fake } = await fakeClient(ADMIN)
  const user = client.withCredential('test-pro')
  for (const reportingTag of ['a', 'b', 'C', 'd', 'e'])
    await user.request('POST', '/v2/translate', { json: { text: ['Hi'], target_lang: 'DE' } }, { reportingTag })
  const range = { start_date: '2026-01-01', end_date: '2026-12-31' }
  const first = await client.admin.customTagUsage(range)
  expect(first.custom_tag_usage_report).toMatchObject({ aggregate_by: 'period', next_page: 2, usage: [{}, {}] })
  const all = await client.admin.iterateCustomTagUsage({ ...range, aggregate_by: 'day' }).toArray()
  expect(all.map(({ custom_tag }) => custom_tag)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(all[0]?.usage_date).toMatch(/T00:00:00Z$/)
  fake.script({ match: { op: 2 }, do: { dropField: 'custom_tag_usage_report' } })
  expect(await failureOf(client.admin.iterateCustomTagUsage(range).toArray())).toMatchObject({ code: 'RESPONSE_INVALID', page: 1 })
})
