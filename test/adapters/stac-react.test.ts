import { StacApiProvider, useCollection, useCollections, useItem, useStacSearch } from '@developmentseed/stac-react'
import { createElement, type ReactElement, useEffect } from 'react'
import { act, create, type ReactTestRenderer } from 'react-test-renderer'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { apiFor } from '../../examples/adapters/stac-react.ts'
import type { Auth } from '../../src/auth/auth.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { canary, leaks, shown } from '../harness/canary.ts'
import { failureOf } from '../harness/failure.ts'
import { type AnsweringServer, type Inquiry, jsonAnswer, startAnswering } from '../servers/answering-server.ts'
import { keyGuard } from '../servers/guards.ts'
import { startArchive } from './archive.ts'
import { keepsTheGrant } from './grant.ts'

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true)
/** The renderer without a page tells that its authors prefer others. */
vi.spyOn(console, 'error').mockImplementation(() => {})

/** Renders a page with one hook, and follows what it says until `isOver`. */
async function used<State>(auth: Auth, apiUrl: string, use: () => State, isOver: (state: State) => boolean): Promise<State> {
  let last: State | undefined
  const Page = () => {
    const state = use()
    useEffect(() => {
      last = state
    })
    return null
  }
  const page = await apiFor(auth, apiUrl, createElement(Page))
  const tree = await drawn(page)
  await expect
    .poll(async () => {
      await act(() => new Promise((resolve) => setTimeout(resolve, 5)))
      return last !== undefined && isOver(last)
    })
    .toBe(true)
  await act(async () => tree.unmount())
  return last as State
}

async function drawn(page: ReactElement): Promise<ReactTestRenderer> {
  let tree: ReactTestRenderer | undefined
  await act(async () => {
    tree = create(page)
  })
  if (!tree) throw new Error('nothing was drawn')
  return tree
}

/** What `useItem` has for an address; throws its error. */
async function itemAt(auth: Auth, apiUrl: string, url: string): Promise<unknown> {
  const { item, error } = await used(
    auth,
    apiUrl,
    () => useItem(url),
    (state) => Boolean(state.item ?? state.error),
  )
  if (error) throw error
  return item
}

keepsTheGrant({
  files: { landing: '{"links":[]}', item: '{"id":"a"}' },
  name: 'item',
  read: (auth, { href, scope }, { origin }) => itemAt(auth, `${origin}/files/landing`, new URL(href, scope.url).href),
  expected: { id: 'a' },
})

const KEY = 'right-key-of-the-api'

describe('an API that is protected from its landing page on', () => {
  let api: AnsweringServer
  let stranger: AnsweringServer
  let posts = false
  beforeAll(async () => {
    stranger = await startAnswering(() => jsonAnswer(200, { features: [{ id: 'elsewhere' }], links: [] }))
    const guard = keyGuard('header', 'x-api-key', KEY)
    api = await startAnswering((request) => guard(request) ?? answerOf(request))
  })
  afterAll(async () => {
    await Promise.all([api.close(), stranger.close()])
  })

  function answerOf({ method, path }: Inquiry) {
    if (path === '/') return jsonAnswer(200, { links: posts ? [{ rel: 'search', href: '/search', method: 'POST' }] : [] })
    if (path === '/text') return { status: 200, body: '<html>' }
    if (path === '/nothing') return jsonAnswer(200, null)
    if (path === '/collections') return jsonAnswer(200, { collections: [{ id: 'one' }] })
    if (path === '/collections/one%2Ftwo') return jsonAnswer(200, { id: 'one/two' })
    if (path !== '/search' || method !== (posts ? 'POST' : 'GET')) return jsonAnswer(404, {})
    const links = posts
      ? [
          {
            rel: 'next',
            href: '/search',
            method: 'POST',
            headers: { 'x-api-key': 'from the catalog' },
            body: { token: 'n', datetime: 'd' },
          },
        ]
      : [{ rel: 'next', href: `${stranger.origin}/page` }]
    return jsonAnswer(200, { features: [{ id: 'here' }], links })
  }

  const engine = (value = KEY) =>
    createAuth({
      credentials: [{ id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value, sendTo: `${api.origin}/` }],
      typed: [stranger.origin],
    })

  /** Searches once and goes on until the results hold that Item. */
  function searched(until: string, turn: (search: ReturnType<typeof useStacSearch>) => void) {
    const use = () => {
      const search = useStacSearch()
      useEffect(() => turn(search))
      return search
    }
    return used(engine(), `${api.origin}/`, use, ({ results }) => JSON.stringify(results ?? {}).includes(until))
  }

  /** Fills in the form, submits it when it is filled in, and asks for the next page once. */
  function visitor(): (search: ReturnType<typeof useStacSearch>) => void {
    let step = 0
    return (search) => {
      if (step === 0) {
        search.setBbox([20, 50, 10, 60])
        search.setDateRangeFrom('2026-01-01')
        search.setSortby([{ field: 'id', direction: 'asc' }])
        search.setCollections(['one', 'two'])
        step = 1
      } else if (step === 1 && search.bbox && search.dateRangeFrom && search.sortby && search.collections) {
        search.submit()
        step = 2
      } else if (step === 2 && search.nextPage) {
        search.nextPage()
        step = 3
      }
    }
  }

  it('hooks read an API that is protected from its landing page on, with names that URLs must encode', async () => {
    const listed = await used(engine(), `${api.origin}/`, useCollections, ({ collections }) => Boolean(collections))
    expect(listed.collections).toEqual({ collections: [{ id: 'one' }] })
    const one = await used(
      engine(),
      `${api.origin}/`,
      () => useCollection('one/two'),
      ({ collection }) => Boolean(collection),
    )
    expect(one.collection).toEqual({ id: 'one/two' })
  })

  it('a GET search of a protected API sends nothing to a next page on another host', async () => {
    posts = false
    await searched('elsewhere', visitor())
    const asked = api.exchanges.filter(({ request }) => request.path === '/search').at(-1)
    expect(Object.fromEntries(asked?.request.query ?? [])).toEqual({
      bbox: '10,50,20,60',
      datetime: '2026-01-01T00:00:00Z/..',
      sortby: '+id',
      collections: 'one,two',
      limit: '25',
    })
    expect(stranger.exchanges.length).toBeGreaterThan(0)
    expect(stranger.exchanges.filter(({ request }) => 'x-api-key' in request.headers)).toEqual([])
  })

  it('a POST search of a protected API ignores the headers of a page link', async () => {
    posts = true
    const before = api.exchanges.length
    await searched('here', visitor())
    await expect.poll(() => api.exchanges.slice(before).filter(({ request }) => request.path === '/search').length).toBe(2)
    const [first, second] = api.exchanges.slice(before).filter(({ request }) => request.path === '/search')
    expect(JSON.parse(first?.request.body ?? '')).toEqual({
      bbox: [10, 50, 20, 60],
      datetime: '2026-01-01T00:00:00Z/..',
      sortby: [{ field: 'id', direction: 'asc' }],
      collections: ['one', 'two'],
      limit: 25,
    })
    expect(second?.answer.status).toBe(200)
    expect(JSON.parse(second?.request.body ?? '')).toEqual({ token: 'n', datetime: 'd' })
  })

  it('reports before anything is displayed that a key is wrong, and does not show it', async () => {
    const wrong = canary('wrong')
    const error = await failureOf(apiFor(engine(wrong.value), `${api.origin}/`, null))
    expect(error).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(leaks([wrong], { error: shown(error) })).toEqual([])
  })

  it('an API is not prepared from a document that is not a landing page', async () => {
    for (const [path, code] of [
      ['/nowhere', 'HTTP_404'],
      ['/text', 'DOC_NOT_JSON'],
      ['/nothing', 'DOC_NOT_JSON'],
    ])
      expect(await failureOf(apiFor(engine(), api.origin + path, null))).toMatchObject({ code })
  })

  it('an API is not prepared for a URL that is not a string, which stac-react would not find', async () => {
    const url = new URL(api.origin) as unknown as string
    await expect(apiFor(engine(), url, null)).rejects.toThrow('a URL as a string: the apiUrl of the StacApiProvider')
  })

  it('keeps the key out of the names of queries', async () => {
    const page = await apiFor(engine(), `${api.origin}/`, null)
    const client = (page.props as { queryClient: { getQueryCache(): { getAll(): readonly { queryKey: unknown }[] } } }).queryClient
    expect(
      client
        .getQueryCache()
        .getAll()
        .map(({ queryKey }) => queryKey),
    ).toEqual([['stacApi', `${api.origin}/`, undefined]])
  })
})

it('stac-react sends the headers of its options to every host, which is why none are returned', async () => {
  const archive = await startArchive({ a: '{}' })
  const Page = () => {
    useItem(`${archive.stranger.origin}/files/a`)
    return null
  }
  const options = { headers: { 'x-archive-key': 'told to everybody' } }
  const tree = await drawn(createElement(StacApiProvider, { apiUrl: `${archive.stranger.origin}/files/a`, options }, createElement(Page)))
  const told = () => archive.stranger.exchanges.filter(({ request }) => request.headers['x-archive-key'] === 'told to everybody')
  await expect
    .poll(async () => {
      await act(() => new Promise((resolve) => setTimeout(resolve, 5)))
      return told().length
    })
    .toBe(2)
  await act(async () => tree.unmount())
  await archive.close()
})
