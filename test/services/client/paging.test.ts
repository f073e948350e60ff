import { expect, it } from 'vitest'
import type { Paging } from '../../../src/services/client/paging.ts'
import { JSON_REST, RestResource } from '../../../src/services/client/rest-resource.ts'
import { failureOf } from '../../harness/failure.ts'
import { type Answer, type Inquiry, jsonAnswer } from '../../servers/answering-server.ts'
import { clientOf, service } from './service.ts'

const ALL = Array.from({ length: 7 }, (_, index) => ({ id: index + 1 }))

async function usersOf(paging: Paging, answer: (request: Inquiry, origin: string) => Answer) {
  let own = ''
  const { origin, exchanges } = await service((request) => answer(request, own))
  own = origin
  const { client } = clientOf(origin)
  return { users: new RestResource({ client, profile: { ...JSON_REST, paging }, path: 'users' }), exchanges }
}

/** Three at a time; `body` writes the list and the URL of the next page as a service does. */
const pagesBy =
  (body: (list: readonly unknown[], next: string | undefined) => object) =>
  ({ query, path }: Inquiry, origin: string): Answer => {
    if (path !== '/v1/users') return jsonAnswer(404, {})
    const from = Number(query.get('after') ?? 0)
    const next = from + 3 < ALL.length ? `${origin}/v1/users?after=${from + 3}&%24top=3` : undefined
    return jsonAnswer(200, body(ALL.slice(from, from + 3), next))
  }

it.each<[string, string, Parameters<typeof pagesBy>[0]]>([
  ['a next that is null at the end', '/next', (results, next) => ({ results, next: next ?? null })],
  [
    'HAL',
    '/_links/next/href',
    (users, next) => ({ _embedded: { users }, _links: { self: { href: '/' }, ...(next && { next: { href: next } }) } }),
  ],
  ['OData', '/@odata.nextLink', (value, next) => ({ value, ...(next && { '@odata.nextLink': next }) })],
  ['a name with a slash', '/a~1b', (items, next) => ({ items, 'a/b': next ?? '' })],
  ['a relative URL', '/links/next', (data, next) => ({ data, links: { next: next?.replace(/^.*\/users/, '') ?? false } })],
  ['a path', '/links/next', (data, next) => ({ data, links: { next: next?.replace(/^http:\/\/[^/]*/, '') ?? null } })],
])('follows the URL in the body to the last page: %s', async (_name, url, body) => {
  const { users, exchanges } = await usersOf({ style: 'url', url }, pagesBy(body))
  expect(await users.iterate().toArray()).toEqual(ALL)
  expect(exchanges.map(({ request }) => request.target)).toEqual(['/v1/users', '/v1/users?after=3&%24top=3', '/v1/users?after=6&%24top=3'])
})

it.each([
  'https://evil.example/v1/users?after=3',
  '//evil.example/v1/users?after=3',
  '/v2/users?after=3',
  '/v1/../admin',
  '/v1x/users',
  'http://ORIGIN@evil.example/v1/users',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '/v1/users/..%2f..%2fadmin',
])('sends the credential to no page outside of the base URL: %s', async (next) => {
  const { users, exchanges } = await usersOf({ style: 'url', url: '/next' }, (_request, origin) =>
    jsonAnswer(200, { data: ALL, next: next.replace('ORIGIN', new URL(origin).host) }),
  )
  const read: unknown[] = []
  const reading = (async () => {
    for await (const user of users.iterate()) read.push(user)
  })()
  expect(await failureOf(reading)).toMatchObject({ code: expect.stringMatching(/^(?:RESPONSE|REQUEST)_INVALID$/) })
  expect([read.length, exchanges.length]).toEqual([ALL.length, 1])
})

it.each<[Paging, object, Record<string, string>]>([
  [{ style: 'link' }, { data: [{}], next: '/v1/users?page=2' }, {}],
  [{ style: 'link' }, { data: [{}], paging: { next: '/v1/users?page=2' } }, {}],
  [{ style: 'link' }, { _embedded: { users: [{}] }, _links: { next: { href: '/v1/users?page=2' } } }, {}],
  [{ style: 'link' }, { value: [{}], '@odata.nextLink': '/v1/users?page=2' }, {}],
  [
    { style: 'link' },
    {
      users: [{}],
      links: [
        { rel: 'self', href: '/' },
        { rel: 'next', href: '/v1/users?page=2' },
      ],
    },
    {},
  ],
  [{ style: 'url', url: '/next' }, { data: [{}] }, { link: '</v1/users?page=2>; rel="next"' }],
  [{ style: 'url', url: '/nxt' }, { data: [{}], next: '/v1/users?page=2' }, {}],
  [{ style: 'url', url: '/next' }, { data: [{}], next: 2 }, {}],
  [{ style: 'url', url: '/next' }, { data: [{}], next: true }, {}],
  [{ style: 'url', url: '/next' }, { data: [{}], next: { href: '/v1/users?page=2' } }, {}],
  [{ style: 'url', url: '/next', explicitEnd: true }, { data: [{}] }, {}],
  [{ style: 'cursor', cursor: '/cursor', parameter: 'c' }, { data: [{}], next: '/v1/users?page=2' }, {}],
  [{ style: 'cursor', cursor: '/cursor', parameter: 'c', explicitEnd: true }, { data: [{}] }, {}],
  [{ style: 'cursor', cursor: '/cursor', parameter: 'c' }, { items: [{}], cursor: ['a'] }, {}],
  [{ style: 'page', page: 'page', total: '/pages' }, { items: [{}], pages: 1, next: '/v1/users?page=2' }, {}],
  [{ style: 'offset', offset: 'o', size: 'n', shortIsLast: true }, { data: [{}], next: '/v1/users?page=2' }, {}],
])('reports a list that signals its next page in an unsupported way: %o, %o', async (paging, body, headers) => {
  const { users, exchanges } = await usersOf(paging, () => jsonAnswer(200, body, headers))
  const read: unknown[] = []
  const reading = (async () => {
    for await (const user of users.iterate({ pageSize: 3 })) read.push(user)
  })()
  expect(await failureOf(reading)).toMatchObject({
    code: 'RESPONSE_INVALID',
    message: expect.stringContaining('the list is incomplete'),
    hint: expect.stringContaining('paged'),
    operation: 'users.list',
    attempts: 1,
  })
  expect([read.length, exchanges.length]).toEqual([1, 1])
})

it.each<[Paging, object]>([
  [{ style: 'link' }, { data: [{}] }],
  [{ style: 'url', url: '/next' }, { data: [{}] }],
  [
    { style: 'url', url: '/next', explicitEnd: true },
    { data: [{}], next: null },
  ],
  [
    { style: 'cursor', cursor: '/cursor', parameter: 'c', explicitEnd: true },
    { items: [{}], cursor: '' },
  ],
  [
    { style: 'page', page: 'page' },
    { data: [], next: '/v1/users?page=9' },
  ],
  [
    { style: 'page', page: 'page', total: '/total' },
    { data: [{}], total: 1, next: null },
  ],
])('ends at the end that a style has: %o, %o', async (paging, body) => {
  const { users, exchanges } = await usersOf(paging, () => jsonAnswer(200, body))
  expect(await users.iterate().toArray()).toEqual('data' in body ? body.data : [{}])
  expect(exchanges).toHaveLength(1)
})

it.each([Number.NaN, -1, 'all'])('refuses a limit that is not a number of 0 or more, instead of an empty list: %s', async (limit) => {
  const { users, exchanges } = await usersOf({ style: 'none' }, () => jsonAnswer(200, ALL))
  const error = await failureOf(users.iterate({ limit: limit as number }).toArray())
  expect(error).toMatchObject({ code: 'REQUEST_INVALID', field: 'limit' })
  expect(exchanges).toHaveLength(0)
  expect(await users.iterate({ limit: 0 }).toArray()).toEqual([])
  expect(await users.iterate({ limit: 2 }).toArray()).toHaveLength(2)
})
