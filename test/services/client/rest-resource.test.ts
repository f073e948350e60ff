import { expect, it } from 'vitest'
import { NetworkError } from '../../../src/errors.ts'
import { nextLink, type Paging, paged } from '../../../src/services/client/paging.ts'
import { asBool, JSON_REST, RestResource, type ServiceProfile } from '../../../src/services/client/rest-resource.ts'
import { failureOf } from '../../harness/failure.ts'
import { type Answer, type Inquiry, jsonAnswer } from '../../servers/answering-server.ts'
import { clientOf, service } from './service.ts'

const FORM: ServiceProfile = { verbs: ['GET', 'POST', 'DELETE'], update: 'POST', body: 'form', accept: 'application/json' }

async function resource(profile: ServiceProfile, answer: (request: Inquiry, index: number) => Answer | Promise<Answer>) {
  const { origin, exchanges } = await service(answer)
  const { client, clock } = clientOf(origin)
  return { users: new RestResource({ client, profile, path: 'users', fields: { active: asBool } }), exchanges, clock, origin }
}

it.each([
  [JSON_REST, 'PUT', '{"name":"A B"}', 'application/json'],
  [FORM, 'POST', 'name=A%20B', 'application/x-www-form-urlencoded'],
] as const)('maps methods to verbs and URLs: %o', async (profile, update, body, type) => {
  const { users, exchanges } = await resource(profile, ({ method, path }) =>
    method === 'DELETE'
      ? { status: 204 }
      : jsonAnswer(200, { data: /s$/.test(path) && method === 'GET' ? [{ active: 1 }] : { active: '0' } }),
  )
  expect(await users.list()).toEqual([{ active: true }])
  expect(await users.get('7')).toEqual({ active: false })
  await users.create({ name: 'A B' })
  await users.update(7n, { name: 'A B' })
  expect(await users.delete(7)).toBeUndefined()
  await users.sub(7, 'tasks').list({ query: { open: true } })
  expect(exchanges.map(({ request }) => `${request.method} ${request.target}`)).toEqual([
    'GET /v1/users',
    'GET /v1/users/7',
    'POST /v1/users',
    `${update} /v1/users/7`,
    'DELETE /v1/users/7',
    'GET /v1/users/7/tasks?open=1',
  ])
  for (const index of [2, 3]) {
    expect(exchanges[index]?.request.body).toBe(body)
    expect(exchanges[index]?.request.headers['content-type']).toBe(type)
  }
  for (const index of [0, 1, 4]) expect(exchanges[index]?.request.headers).not.toHaveProperty('content-type')
})

it('refuses a verb that the service does not know', async () => {
  const { users, exchanges } = await resource(FORM, () => ({ status: 200 }))
  expect(await failureOf(users.request('PUT', '/7'))).toMatchObject({
    ...{ operation: 'users.request', attempts: 0 },
    code: 'VERB_NOT_ALLOWED',
    message: expect.stringContaining('GET, POST, DELETE'),
  })
  expect(exchanges).toHaveLength(0)
})

it.each([
  ['create', 1],
  ['update', 1],
  ['delete', 5],
  ['get', 5],
] as const)('repeats %s as often as HTTP allows', async (action, requests) => {
  const { users, exchanges, clock } = await resource(FORM, () => ({ status: 500 }))
  const calls = {
    create: () => users.create({}),
    update: () => users.update(1, { a: 1 }),
    delete: () => users.delete(1),
    get: () => users.get(1),
  }
  await clock.run(failureOf(calls[action]()))
  expect(exchanges).toHaveLength(requests)
})

it.each([
  [[1], [1]],
  [{ data: [1], meta: {} }, [1]],
  [{ users: [1], other: 2 }, [1]],
  [{ items: [1] }, [1]],
])('finds the list in %o', async (body, list) => {
  const { users } = await resource(JSON_REST, () => jsonAnswer(200, body))
  expect(await users.list()).toEqual(list)
})

it('reports what is there instead of a list, and of JSON', async () => {
  const { users } = await resource(JSON_REST, (_request, index) =>
    index === 0 ? jsonAnswer(200, { data: 1, name: 2 }) : { status: 200, headers: { 'content-type': 'text/xml' }, body: '<a/>' },
  )
  expect(await failureOf(users.list())).toMatchObject({
    code: 'RESPONSE_INVALID',
    message: expect.stringContaining('data, name'),
    ...{ operation: 'users.list', attempts: 1 },
  })
  expect(await failureOf(users.list())).toMatchObject({ code: 'MEDIA_TYPE_UNSUPPORTED', contentType: 'text/xml' })
})

it('keeps a record with a field called data', async () => {
  const { users } = await resource(JSON_REST, () => jsonAnswer(200, { data: 1, name: 'a' }))
  expect(await users.get(1)).toEqual({ data: 1, name: 'a' })
})

const ALL = Array.from({ length: 7 }, (_, index) => ({ id: index + 1 }))
const slice = (from: number, size: number) => ALL.slice(from, from + size)

/** A service that pages in every way, strictly. */
function pages({ query }: Inquiry): Answer {
  if (query.has('page')) return jsonAnswer(200, { data: slice((Number(query.get('page')) - 1) * 3, 3), total: 7 })
  if (query.has('offset')) return jsonAnswer(200, slice(Number(query.get('offset')), Number(query.get('limit'))))
  const from = Number(query.get('after') ?? 0)
  const next = from + 3 < ALL.length ? from + 3 : null
  const link: Record<string, string> = next === null ? {} : { link: `</v1/users?x=1>; rel=prev, </v1/users?after=${next}>; rel="next"` }
  return jsonAnswer(200, { data: slice(from, 3), next }, link)
}

it.each<[Paging, number]>([
  [{ style: 'page', page: 'page', total: '/total' }, 3],
  [{ style: 'offset', offset: 'offset', size: 'limit', shortIsLast: true }, 3],
  [{ style: 'offset', offset: 'offset', size: 'limit' }, 4],
  [{ style: 'page', page: 'page', size: 'size' }, 4],
  [{ style: 'cursor', cursor: '/next', parameter: 'after' }, 3],
  [{ style: 'link' }, 3],
])('reads all pages by %o, twice, and no more than requested', async (paging, requests) => {
  const { users, exchanges } = await resource({ ...JSON_REST, paging }, pages)
  const all = users.iterate({ pageSize: 3 })
  expect(await all.toArray()).toEqual(ALL)
  expect(exchanges).toHaveLength(requests)
  expect(await all.toArray()).toEqual(ALL)
  expect(await users.iterate({ pageSize: 3, limit: 2 }).toArray()).toEqual(ALL.slice(0, 2))
  expect(exchanges).toHaveLength(2 * requests + 1)
  expect(await failureOf(all.toArray({ max: 5 }))).toMatchObject({ code: 'REQUEST_TOO_LARGE', limit: 5 })
})

it.each<Paging>([
  { style: 'offset', offset: 'offset', size: 'limit' },
  { style: 'page', page: 'page' },
])('reads everything of a service whose pages are smaller than what is asked for: %o', async (paging) => {
  const capped = ({ query }: Inquiry) =>
    jsonAnswer(200, slice(query.has('page') ? (Number(query.get('page')) - 1) * 3 : Number(query.get('offset')), 3))
  const { users } = await resource({ ...JSON_REST, paging }, capped)
  expect(await users.iterate({ pageSize: 100 }).toArray()).toEqual(ALL)
})

it('lets several read the same list at a time', async () => {
  const { users } = await resource({ ...JSON_REST, paging: { style: 'page', page: 'page', total: '/total' } }, pages)
  const all = users.iterate()
  expect(await Promise.all([all.toArray(), all.toArray()])).toEqual([ALL, ALL])
})

it('reports the page of a failure also of an error that came before', async () => {
  const frozen = Object.freeze(new NetworkError('NETWORK_FAILED', 'always the same'))
  const sealed = Object.defineProperty(new NetworkError('NETWORK_FAILED', 'again'), 'page', { value: 9 })
  for (const known of [frozen, sealed]) {
    const source = { name: 'a', fetch: () => Promise.reject(known), items: () => [], next: () => undefined }
    expect(await failureOf(paged(source).toArray())).toBe(known)
  }
})

it('writes queries and bodies as the profile says, and adds nothing to a body that is ready', async () => {
  const { users, exchanges } = await resource({ ...FORM, form: { arrays: 'repeat' } }, () => jsonAnswer(200, { id: 1 }))
  await users.create({ tags: ['a', 'b'] }, { query: { q: [1, 2] } })
  await users.request('GET', '/x?a=1', { query: { b: 2 } })
  expect(exchanges.map(({ request }) => `${request.target} ${request.body}`)).toEqual([
    '/v1/users?q=1&q=2 tags=a&tags=b',
    '/v1/users/x?a=1&b=2 ',
  ])
  const codec = { parse: () => ({}), stringify: (value: unknown) => `<user>${(value as { name: string }).name}</user>` }
  const xml = await resource({ ...JSON_REST, body: 'xml', codec }, () => ({ status: 204 }))
  expect(await failureOf(xml.users.create({ name: 'Ada' }, { extraBody: { a: 1 } }))).toMatchObject({
    code: 'REQUEST_INVALID',
    field: 'extraBody',
  })
  await xml.users.request('POST', '', { body: { name: 'Ada' } })
  expect(xml.exchanges.map(({ request }) => `${request.headers['content-type']} ${request.body}`)).toEqual([
    'application/xml <user>Ada</user>',
  ])
})

it('requests the next page only when it is wanted, and stops at circles, foreign pages and failures', async () => {
  const cursor: Paging = { style: 'cursor', cursor: '/next', parameter: 'after' }
  const circle = await resource({ ...JSON_REST, paging: cursor }, () => jsonAnswer(200, { data: [{}], next: 'same' }))
  for await (const _item of circle.users.iterate()) break
  expect(circle.exchanges).toHaveLength(1)
  expect(await failureOf(circle.users.iterate().toArray())).toMatchObject({
    code: 'PAGE_LOOP',
    operation: 'users.list',
    attempts: 2,
    page: 2,
  })
  const foreign = await resource({ ...JSON_REST, paging: { style: 'link' } }, () =>
    jsonAnswer(200, [{}], { link: '<https://evil.example/v1/users?page=2>; rel=next' }),
  )
  expect(await failureOf(foreign.users.iterate().toArray())).toMatchObject({ code: 'RESPONSE_INVALID' })
  const failing = await resource({ ...JSON_REST, paging: cursor }, (_request, index) =>
    index === 0 ? jsonAnswer(200, { data: [{}], next: 2 }) : { status: 400 },
  )
  expect(await failureOf(failing.users.iterate().toArray())).toMatchObject({ code: 'HTTP_400', page: 2 })
})

it('ends the request under way when its reader leaves', async () => {
  let asked = 0
  const { users } = await resource(JSON_REST, () => {
    asked++
    return new Promise(() => {})
  })
  const iterator = users.iterate()[Symbol.asyncIterator]()
  const next = failureOf(iterator.next())
  await expect.poll(() => asked).toBe(1)
  await iterator.return?.()
  expect(await next).toMatchObject({ code: 'ABORTED' })
})

it.each([
  ['<https://a.example/?p=2>; rel="next"', 'https://a.example/?p=2'],
  ['<a>; rel=prev, <b>; title="x, y"; rel="last NEXT"', 'b'],
  ['<a>; rel=prev', undefined],
  ['', undefined],
])('the next link of %s is %s', (header, target) => {
  expect(nextLink(header)).toBe(target)
})

it('reads whole items and no further page for a limit between two numbers', async () => {
  const { origin, exchanges } = await service(() => jsonAnswer(200, [{ id: 1 }]))
  const profile = { ...JSON_REST, paging: { style: 'page', page: 'page' } } as const
  const users = new RestResource({ client: clientOf(origin).client, profile, path: 'users' })
  expect(await users.iterate({ limit: 2.5 }).toArray()).toHaveLength(2)
  expect(exchanges).toHaveLength(2)
})

it.each(['', '/users', 'users/', 'a//b', 'users?x=1'])('refuses %o as the path of a collection', async (path) => {
  const { client } = clientOf('https://127.0.0.1')
  expect(() => new RestResource({ client, profile: JSON_REST, path })).toThrow(
    expect.objectContaining({ code: 'REQUEST_INVALID', field: 'path' }),
  )
  expect(() => new RestResource({ client, profile: JSON_REST } as never)).toThrow(/^a path must be a string/)
})
