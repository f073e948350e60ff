import { describe, expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { clientOf, timeTracking } from './service.ts'

describe('projects', () => {
  it('projects are listed, and read with more of their fields', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service)
    const list = await client.projects.list()
    expect(list.map(({ id, name, billable, customer_name }) => [id, name, billable, customer_name])).toEqual([
      [60, 'Website', true, 'ACME'],
      [61, 'Süd & Ost', false, null],
    ])
    const project = await client.projects.get(60)
    expect(project).toMatchObject({
      ...{ active: true, template: false, required_task: false, privacy: 1, rate: '95.5', time_total: 90_000_000, value_total: null },
      ...{ date_created: { iso: '2026-06-01T12:00:00+00:00', epochMs: Date.UTC(2026, 5, 1, 12) }, date_changed: null },
      privacy_s: 'public',
    })
    expect(project.decodeIssues).toEqual([])
    expect(service.log.map(({ method, rawUrl, headers }) => [method, rawUrl, headers.accept])).toEqual([
      ['GET', '/v1/projects', 'application/json'],
      ['GET', '/v1/projects/60', 'application/json'],
    ])
  })

  it('rates, values and ids have the digits that the service wrote as numbers', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service)
    const written = '{"data":{"id":9007199254740993,"rate":95.50,"value_total":0.12345678901234567890,"hours":7.50}}'
    service.script({ match: { op: 'projects.get' }, do: { status: 200, headers: { 'content-type': 'application/json' }, body: written } })
    expect(await client.projects.get(60)).toEqual({
      ...{ id: 9007199254740993n, rate: '95.50', value_total: '0.12345678901234567890', hours: 7.5 },
    })
  })

  it('projects are made, changed in part by POST, and deleted', async () => {
    const service = await timeTracking({ rateAs: 'string', changedField: 'date_updated' })
    const { client } = clientOf(service)
    const made = await client.projects.create({ name: 'x+y&z=ü', billable: true, rate: '12.345678901234567', description: null })
    expect(made).toMatchObject({ id: 100, name: 'x+y&z=ü', billable: true, rate: '12.35', description: null })
    const changed = await client.projects.update(made?.id ?? 0, { active: false, customer_id: 121 })
    expect(changed).toMatchObject({ name: 'x+y&z=ü', active: false, status: 'archived', date_updated: { epochMs: service.clock.now() } })
    expect(await client.projects.delete('100')).toBeUndefined()
    expect(service.log.map(({ method, rawUrl, headers, body }) => [method, rawUrl, headers['content-type'], body])).toEqual([
      ['POST', '/v1/projects', FORM, 'name=x%2By%26z%3D%C3%BC&billable=1&rate=12.345678901234567&description='],
      ['POST', '/v1/projects/100', FORM, 'active=0&customer_id=121'],
      ['DELETE', '/v1/projects/100', undefined, ''],
    ])
    await expect(client.projects.get(100)).rejects.toMatchObject({ name: 'NotFoundError', operation: 'projects.get' })
  })

  it('projects keep what is unknown and what does not fit, and say so', async () => {
    const service = await timeTracking()
    const odd = { id: 9, billable: 'maybe', rate: '1e3', date_created: 'yesterday', time_total: '1:75:00', colour: { red: 1 } }
    service.script({ do: { status: 200, headers: { 'Content-Type': 'application/json' }, body: { data: odd } } })
    const { client } = clientOf(service)
    const project = await client.projects.get(9)
    expect({ ...project }).toEqual(odd)
    expect(project.decodeIssues.map(({ field }) => field)).toEqual(['billable', 'rate', 'date_created', 'time_total'])
    expect(project.colour).toEqual({ red: 1 })
  })

  it.each(['create', 'update'] as const)('projects are not sent twice when the answer of %s is lost', async (method) => {
    const service = await timeTracking()
    service.script({ match: { op: `projects.${method}` }, do: { performThen: { resetBefore: true } } })
    const { client, clock } = clientOf(service)
    const call = method === 'create' ? client.projects.create({ name: 'Once' }) : client.projects.update(60, { name: 'Once' })
    expect(await clock.run(failureOf(call))).toMatchObject({ code: 'NETWORK_RESET', sent: true, attempts: 1 })
    expect(service.requests(`projects.${method}`)).toBe(1)
    expect((await client.projects.list()).filter(({ name }) => name === 'Once')).toHaveLength(1)
  })

  it('projects are sent again where the caller says that it does no harm, and where nothing was done', async () => {
    const service = await timeTracking()
    service.script({ match: { op: 'projects.update' }, do: { performThen: { status: 502 } } })
    service.script({ match: { op: 'projects.create' }, do: { status: 429, retryAfter: 1 } })
    const { client, clock } = clientOf(service)
    expect(await clock.run(client.projects.update(60, { name: 'Again' }, { replay: 'idem' }))).toMatchObject({ name: 'Again' })
    expect(await clock.run(client.projects.create({ name: 'Later' }))).toMatchObject({ id: 100 })
    expect([service.requests('projects.update'), service.requests('projects.create')]).toEqual([2, 2])
  })

  it('projects are read three times at most', async () => {
    const service = await timeTracking()
    service.script({ times: 3, do: { status: 500 } })
    const { client, clock } = clientOf(service)
    expect(await clock.run(failureOf(client.projects.list()))).toMatchObject({ name: 'ServerError', code: 'HTTP_500', attempts: 3 })
  })

  it('projects that a lost answer deleted are gone', async () => {
    const service = await timeTracking()
    service.script({ match: { op: 'projects.delete' }, do: { performThen: { resetBefore: true } } })
    const { client, clock } = clientOf(service)
    expect(await clock.run(client.projects.delete(60))).toBeUndefined()
    expect(service.requests('projects.delete')).toBe(2)
  })
})

describe('customers', () => {
  it.each([
    ['record', { id: 121, name: 'ACME INC.' }],
    ['plain', { id: 121, name: 'ACME INC.' }],
    ['empty', undefined],
  ] as const)('customers are renamed; the answer is %s', async (customerAnswer, expected) => {
    const service = await timeTracking({ customerAnswer })
    const { client } = clientOf(service)
    expect(await client.customers.update(121, { name: 'ACME INC.' })).toEqual(expected)
    expect(service.log[0]).toMatchObject({ method: 'POST', rawUrl: '/v1/customers/121', body: 'name=ACME%20INC.' })
    expect(service.log[0]?.headers['content-type']).toBe(FORM)
  })

  it.each([121, '121', 121n, '00000000000000000121'])('customers have numbers: %o', async (id) => {
    const service = await timeTracking()
    service.script({ do: { status: 200 } })
    const { client } = clientOf(service)
    await client.customers.update(id, { name: 'a' })
    expect(service.log[0]?.path).toBe(`/v1/customers/${id}`)
  })

  it.each([-1, 1.5, Number.NaN, 2 ** 53, '', 'abc', '-1', '1'.repeat(21), '1/2', '..', -1n, null, {}])(
    'customers have no %o',
    async (id) => {
      const service = await timeTracking()
      const { client } = clientOf(service)
      const calls = [
        client.customers.update(id as never, { name: 'a' }),
        client.customers.get(id as never),
        client.customers.delete(id as never),
      ]
      for (const error of await Promise.all(calls.map(failureOf))) expect(error).toMatchObject({ name: 'ValidationError', field: 'id' })
      expect(service.requests()).toBe(0)
    },
  )

  it('customers have the other methods too, and the service decides', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service)
    await expect(client.customers.list()).rejects.toMatchObject({ name: 'NotFoundError' })
    service.state.switches.customerVerbs = true
    expect(await client.customers.list()).toEqual([{ id: 121, name: 'ACME' }])
    expect(await client.customers.create({ name: 'Two' })).toEqual({ id: 100, name: 'Two' })
    await client.customers.delete(100)
    expect(await client.customers.get(121)).toEqual({ id: 121, name: 'ACME' })
  })
})

const FORM = 'application/x-www-form-urlencoded'
