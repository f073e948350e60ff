import { describe, expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { startServer } from '../../servers/harness.ts'
import { clientOf, timeTracking } from './service.ts'

describe('other collections', () => {
  it('other collections have the same methods, and records as they come', async () => {
    const service = await timeTracking()
    service.state.collections.set('tasks', new Map())
    const { client } = clientOf(service)
    const tasks = client.resource<{ title: string }>('tasks')
    const made = await tasks.create({ title: 'Write', tags: ['a', 'b'], done: false, at: { day: 1 } })
    expect(made).toEqual({ id: 100, title: 'Write', tags: ['a', 'b'], done: '0', at: { day: '1' } })
    expect(await tasks.list({ query: { project_id: 60 } })).toEqual([made])
    expect(service.log.map(({ rawUrl, body }) => [rawUrl, body])).toEqual([
      ['/v1/tasks', 'title=Write&tags[0]=a&tags[1]=b&done=0&at[day]=1'],
      ['/v1/tasks?project_id=60', ''],
    ])
  })

  it('other collections keep an id one segment, whatever it is', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service)
    await expect(client.resource('tasks').get('../usage?x=1#')).rejects.toMatchObject({ code: 'HTTP_404' })
    expect(service.log[0]?.rawUrl).toBe('/v1/tasks/..%2Fusage%3Fx%3D1%23')
    const ids = ['', '.', '..', 'a\\b', 'a\0b', 'a%2fb']
    for (const error of await Promise.all(ids.map((id) => failureOf(client.resource('tasks').get(id)))))
      expect(error).toMatchObject({ code: 'REQUEST_INVALID' })
    expect(service.requests()).toBe(1)
  })

  it.each(['', '/tasks', 'tasks/', 'a//b', '../../auth', 'a?b=c', '{id}', 'https://other.example/x', 'a#b'])(
    'other collections are not at %j',
    async (path) => {
      const service = await timeTracking()
      const { client } = clientOf(service)
      expect(await failureOf(Promise.resolve().then(() => client.resource(path)))).toMatchObject({ code: 'REQUEST_INVALID', field: 'path' })
    },
  )
})

it('names the server whose response is not a list', async () => {
  const service = await timeTracking()
  service.state.collections.set('tasks', new Map())
  service.script({ do: { status: 200, headers: { 'Content-Type': 'application/json' }, body: { rows: [], more: 1 } } })
  const error = await failureOf(clientOf(service).client.resource('tasks').list())
  expect(error).toMatchObject({ code: 'RESPONSE_INVALID', url: `${service.base}/tasks` })
  expect(error.message).toContain('an object with rows, more')
})

it('a path of a collection is a text', async () => {
  const { client } = clientOf(await timeTracking())
  expect(() => client.resource(undefined as never)).toThrow(TypeError)
})

describe('raw requests', () => {
  it('raw requests give status, headers and data', async () => {
    const service = await timeTracking()
    service.state.collections.set('reports', new Map([['daily', { hours: 7 }]]))
    const { client } = clientOf(service)
    const answer = await client.request('GET', '/reports/daily', { query: { day: '2026-01-02' } })
    expect([answer.status, answer.data, answer.headers.get('content-type')]).toEqual([200, { data: { hours: 7 } }, 'application/json'])
    expect((await client.request('POST', '/customers/121', { body: { name: 'a b' } })).data).toEqual({ data: { id: 121, name: 'a b' } })
    expect(service.log.at(-1)?.body).toBe('name=a%20b')
  })

  it.each(['PUT', 'PATCH', 'HEAD', 'OPTIONS', 'get'] as const)(
    'raw requests are not sent as %s, and no credential is read',
    async (method) => {
      const service = await timeTracking()
      let read = false
      const token = () => {
        read = true
        return 'a-token'
      }
      const { client } = clientOf(service, { token })
      const error = await failureOf(client.request(method as never, '/projects'))
      expect(error).toMatchObject({ name: 'ValidationError', code: 'VERB_NOT_ALLOWED', attempts: 0 })
      expect(error.message).toContain('GET, POST, DELETE')
      expect([read, service.requests()]).toEqual([false, 0])
    },
  )

  it.each(['https://other.example/v1/projects', '//other.example/projects', 'projects', '/../projects', '/a/%2e%2e/b', '/a b', '/a#b'])(
    'raw requests do not leave the base URL by %j',
    async (path) => {
      const service = await timeTracking()
      const { client } = clientOf(service)
      expect(await failureOf(client.request('GET', path))).toMatchObject({ code: 'REQUEST_INVALID', field: 'path', attempts: 0 })
      expect(service.requests()).toBe(0)
    },
  )

  it('raw requests have a body with POST only', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service)
    const calls = [
      client.request('GET', '/projects', { body: { a: 1 } }),
      client.request('DELETE', '/projects/60', { body: { a: 1 } }),
      client.projects.delete(60, { extraBody: { a: 1 } }),
      client.projects.list({ extraBody: { a: 1 } }),
    ]
    for (const error of await Promise.all(calls.map(failureOf))) expect(error).toMatchObject({ code: 'REQUEST_INVALID', field: 'body' })
    expect(service.requests()).toBe(0)
  })

  it.each([
    ['empty', { tags: [] }, 'FORM_EMPTY_VALUE'],
    ['no number', { rate: Number.NaN }, 'REQUEST_INVALID'],
    ['half a character', { name: '\ud800' }, 'REQUEST_INVALID'],
  ])('raw requests are not sent with a value that is %s', async (_what, body, code) => {
    const service = await timeTracking()
    const { client } = clientOf(service)
    expect(await failureOf(client.projects.update(60, body))).toMatchObject({ code, operation: 'projects.update' })
    expect(service.requests()).toBe(0)
  })
})

describe('the profile', () => {
  it('decides how forms are written and what may be repeated', async () => {
    const service = await timeTracking()
    service.script({ match: { op: 'projects.update' }, do: { performThen: { status: 500 } } })
    const profile = { form: { booleans: 'words', spaces: 'plus', nulls: 'skip' }, replay: { update: 'idem' } } as const
    const { client, clock } = clientOf(service, { profile })
    await clock.run(client.projects.update(60, { name: 'a b', billable: false, description: null }))
    expect(service.log.map(({ body, status }) => [body, status])).toEqual([
      ['name=a+b&billable=false', 500],
      ['name=a+b&billable=false', 200],
    ])
  })
})

describe('redirects', () => {
  it.each([
    ['another origin', 'REDIRECT_CROSS_ORIGIN'],
    ['the unencrypted port', 'REDIRECT_DOWNGRADE'],
  ])('redirects to %s are not followed', async (_what, code) => {
    const other = await startServer(undefined, { tls: 'valid' })
    const service = await timeTracking()
    const target = code === 'REDIRECT_DOWNGRADE' ? service.plain.url : other.origin
    service.script({ do: { redirect: { status: 302, location: `${target}/v1/projects` } } })
    const { client } = clientOf(service)
    expect(await failureOf(client.projects.list())).toMatchObject({ name: 'TrustError', code, attempts: 1 })
    expect([other.connections, service.plain.requests(), service.requests()]).toEqual([0, 0, 1])
    await other.close()
  })

  it('redirects to the own origin are a status', async () => {
    const service = await timeTracking()
    service.script({ do: { redirect: { status: 308, location: '/v1/customers' } } })
    expect(await failureOf(clientOf(service).client.projects.list())).toMatchObject({ code: 'HTTP_308', attempts: 1 })
  })
})

describe('pages', () => {
  it('unknown pagination is reported, not guessed', async () => {
    const service = await timeTracking({ paging: 'link', pageSize: 1 })
    const { client } = clientOf(service)
    const warnings: unknown[] = []
    client.on('warning', (warning) => warnings.push(warning))
    const list = await client.projects.list()
    expect(list).toHaveLength(1)
    expect(list.decodeIssues).toEqual([{ field: '', message: expect.stringMatching(/^the Link header names a next page/) }])
    expect(await client.projects.iterate().toArray()).toHaveLength(1)
    expect(warnings).toEqual([{ code: 'PAGE_UNREAD', message: expect.stringContaining('projects: the Link header') }])
    expect(service.requests()).toBe(2)
    service.state.switches.paging = 'cursor'
    expect((await client.projects.list()).decodeIssues).toEqual([{ field: '', message: expect.stringMatching(/^next names/) }])
    service.state.switches.paging = 'none'
    expect((await client.projects.list()).decodeIssues).toEqual([])
  })

  it.each([
    ['page', { style: 'page', page: 'page', size: 'per_page', total: '/meta/total' }],
    ['cursor', { style: 'cursor', cursor: '/next', parameter: 'cursor', size: 'per_page' }],
    ['link', { style: 'link' }],
  ] as const)('pages are read by the profile: %s', async (paging, style) => {
    const service = await timeTracking({ paging })
    const { client } = clientOf(service, { profile: { paging: style } })
    await Promise.all(['a', 'b', 'c'].map((name) => client.projects.create({ name })))
    const ids: unknown[] = []
    for await (const { id } of client.projects.iterate()) ids.push(id)
    expect(ids).toEqual([60, 61, 100, 101, 102])
    expect(service.requests('projects.list')).toBe(3)
  })

  it.each([
    ['foreign', 'RESPONSE_INVALID'],
    ['loop', 'PAGE_LOOP'],
  ] as const)('pages that lead elsewhere end the walk: %s', async (link, code) => {
    const service = await timeTracking({ paging: 'link', link, pageSize: 1 })
    const { client } = clientOf(service, { profile: { paging: { style: 'link' } } })
    expect(await failureOf(client.projects.iterate().toArray())).toMatchObject({ code })
    expect(service.requests()).toBeLessThan(4)
  })
})
