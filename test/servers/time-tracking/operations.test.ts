import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rawRequest } from '../service/raw-request.ts'
import { ask } from './ask.ts'
import { nestedForm } from './nested-form.ts'
import { KNOWN } from './options.ts'
import { startTimeTrackingFake, type TimeTrackingFake } from './time-tracking-fake.ts'

let fake: TimeTrackingFake
beforeEach(async () => {
  fake = await startTimeTrackingFake({ insecure: true })
})
afterEach(async () => {
  fake.assertClean()
  await fake.close()
})

const data = async (line: string, form?: string) => {
  const answer = await ask(fake, line, form === undefined ? {} : { form })
  return (answer.json as { data?: unknown } | undefined)?.data
}

describe('projects', () => {
  it('projects are listed without what only one project has', async () => {
    const list = (await data('GET /projects')) as Record<string, unknown>[]
    expect(list.map(({ id, name }) => [id, name])).toEqual([
      [60, 'Website'],
      [61, 'Süd & Ost'],
    ])
    expect(Object.keys(list[0] ?? {})).not.toEqual(expect.arrayContaining(['rate']))
    const single = (await data('GET /projects/60')) as object
    const more = ['rate', 'value_total', 'time_total', 'total_members', 'total_active_tasks']
    expect(Object.keys(single).filter((name) => !(name in (list[0] ?? {})))).toEqual(more)
    expect(single).toMatchObject({
      ...{ billable: 1, required_task: 0, active: true, rate: 95.5, time_total: '25:00:00', customer_name: 'ACME' },
      ...{ date_created: '2026-06-01T12:00:00+0000', date_changed: null, status: 'active', privacy_s: 'public' },
    })
  })

  it('projects are made, changed in part by POST, and deleted with an empty answer', async () => {
    expect(await data('POST /projects', 'name=New&billable=1&required_task=true&rate=')).toMatchObject({ id: 100, rate: null, billable: 1 })
    expect(await data('POST /projects/100', 'active=0')).toMatchObject({ name: 'New', active: false, status: 'archived' })
    const gone = await ask(fake, 'DELETE /projects/100')
    expect([gone.status, gone.text]).toEqual([200, ''])
    expect((await ask(fake, 'GET /projects/100')).status).toBe(404)
    expect((await ask(fake, 'DELETE /projects/100')).status).toBe(404)
  })

  it('projects show what was sent twice', async () => {
    await data('POST /projects', 'name=Twice')
    await data('POST /projects', 'name=Twice')
    expect(await data('GET /projects')).toHaveLength(4)
    expect(fake.requests('projects.create')).toBe(2)
  })

  it.each(['', 'name=', 'name=+', 'name=a&billable=yes', 'name=a&privacy=3', 'name=a&rate=much', 'name[a]=b'])(
    'projects refuse %j',
    async (form) => {
      const { status, json } = await ask(fake, 'POST /projects', { form })
      expect([status, json]).toEqual([422, { status: 422, message: 'Validation failed', errors: expect.any(Array) }])
    },
  )

  it('projects answer by their switches', async () => {
    Object.assign(fake.state.switches, { changedField: 'date_updated', rateAs: 'string', envelope: 'none' })
    expect((await ask(fake, 'GET /projects/60')).json).toMatchObject({ rate: '95.50', date_updated: null })
    Object.assign(fake.state.switches, { envelope: 'items' })
    expect((await ask(fake, 'GET /projects')).json).toMatchObject({ items: [{ id: 60 }, { id: 61 }] })
  })
})

describe('customers', () => {
  it('customers take a new name and answer by the switch', async () => {
    const answers: unknown[] = []
    for (const customerAnswer of ['record', 'plain', 'empty'] as const) {
      fake.state.switches.customerAnswer = customerAnswer
      answers.push((await ask(fake, 'POST /customers/121', { form: 'name=ACME%20INC.' })).text)
    }
    const record = '{"id":121,"name":"ACME INC."}'
    expect(answers).toEqual([`{"data":${record}}`, record, ''])
  })

  it('customers refuse what they do not know', async () => {
    expect((await ask(fake, 'POST /customers/121', { form: '' })).status).toBe(400)
    expect((await ask(fake, 'POST /customers/9', { form: 'name=a' })).status).toBe(404)
    for (const line of ['GET /customers', 'GET /customers/121', 'DELETE /customers/121']) expect((await ask(fake, line)).status).toBe(404)
    fake.state.switches.customerVerbs = true
    expect((await ask(fake, 'GET /customers/121')).status).toBe(200)
  })
})

describe('other collections', () => {
  it('other collections are served when they are there, with fields inside of fields', async () => {
    expect((await ask(fake, 'GET /tasks')).status).toBe(404)
    fake.state.collections.set('tasks', new Map())
    const made = await data('POST /tasks', 'title=a&tags[0]=x&tags[1]=y&at[day]=1')
    expect(made).toEqual({ id: 100, title: 'a', tags: ['x', 'y'], at: { day: '1' } })
    expect(await data('GET /tasks')).toEqual([made])
    expect((await ask(fake, 'DELETE /tasks')).headers.allow).toBe('GET, POST')
  })

  it('other collections have the same two bases and no third one', async () => {
    const headers = { 'user-agent': KNOWN.userAgent, authorization: `Bearer ${KNOWN.token}` }
    expect((await rawRequest('GET', `${fake.url}/api/v1/projects`, { headers })).status).toBe(200)
    expect((await rawRequest('GET', `${fake.url}/v2/projects`, { headers })).status).toBe(404)
    expect((await rawRequest('GET', `${fake.url}/v1/projects/..%2Fcustomers`, { headers })).status).toBe(404)
    expect(fake.log.at(-1)?.rawUrl).toBe('/v1/projects/..%2Fcustomers')
    fake.reset()
  })
})

describe('failures', () => {
  it.each([
    ['message', '{"status":404,"message":"There is no 9 in projects"}'],
    ['error', '{"error":{"code":"E404","message":"There is no 9 in projects"}}'],
    ['errors', '{"errors":["There is no 9 in projects"]}'],
    ['text', 'There is no 9 in projects'],
    ['empty', ''],
  ] as const)('failures have the shape %s', async (errorShape, text) => {
    fake.state.switches.errorShape = errorShape
    expect(await ask(fake, 'GET /projects/9')).toMatchObject({ status: 404, text })
  })
})

describe('pages', () => {
  beforeEach(() => Promise.all(['a', 'b', 'c'].map((name) => data('POST /projects', `name=${name}`))))

  it('pages are numbered', async () => {
    fake.state.switches.paging = 'page'
    expect((await ask(fake, 'GET /projects?page=3')).json).toMatchObject({ data: [{ id: 102 }], meta: { total: 5 } })
    expect((await ask(fake, 'GET /projects?page=0')).status).toBe(400)
  })

  it('pages have cursors that end', async () => {
    fake.state.switches.paging = 'cursor'
    const ids: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await ask(fake, `GET /projects${cursor && `?cursor=${cursor}`}`)
      const page = json as { data: { id: number }[]; next: string | null }
      ids.push(...page.data.map(({ id }) => id))
      cursor = page.next
    }
    expect(ids).toEqual([60, 61, 100, 101, 102])
  })

  it.each([
    ['next', (url: string) => `<${url}/v1/projects?page=2&per_page=2>; rel="next"`],
    ['foreign', () => '<https://elsewhere.example/v1/projects?page=2&per_page=2>; rel="next"'],
    ['loop', (url: string) => `<${url}/v1/projects?page=1&per_page=2>; rel="next"`],
  ] as const)('pages are linked: %s', async (link, expected) => {
    Object.assign(fake.state.switches, { paging: 'link', link })
    expect((await ask(fake, 'GET /projects')).headers.link).toBe(expected(fake.url))
  })
})

describe('names with brackets', () => {
  it.each<[[string, string][], object]>([
    [
      [
        ['a[]', 'x'],
        ['a[]', 'y'],
      ],
      { a: ['x', 'y'] },
    ],
    [[['a[b][c]', '1']], { a: { b: { c: '1' } } }],
    [[['__proto__[a]', '1']], JSON.parse('{"__proto__":{"a":"1"}}') as object],
    [[['a[1]', 'x']], { a: { '1': 'x' } }],
  ])('%j', (pairs, expected) => expect(nestedForm(pairs)).toEqual(expected))

  it.each<[string, string][][]>([
    [
      [
        ['a', 'x'],
        ['a[b]', 'y'],
      ],
    ],
    [[['a[b', 'x']]],
    [[['[a]', 'x']]],
  ] as never)('refuses %j', (pairs) => expect(() => nestedForm(pairs as never)).toThrow(SyntaxError))
})
