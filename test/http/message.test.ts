import { describe, expect, it } from 'vitest'
import {
  type HttpRequest,
  hasQueryParameter,
  queryValues,
  readBody,
  withHeader,
  withQueryParameter,
  withUrl,
} from '../../src/http/message.ts'

const request: HttpRequest = Object.freeze({ method: 'GET', url: 'https://a.example/', headers: Object.freeze({ accept: '*/*' }) })

describe('copies', () => {
  it('copies change only the given members', () => {
    expect(withHeader(request, 'x-a', '1')).toEqual({ ...request, headers: { accept: '*/*', 'x-a': '1' } })
    expect(withHeader(request, 'accept', 'b').headers).toEqual({ accept: 'b' })
    expect(withUrl(request, 'https://b.example/')).toEqual({ ...request, url: 'https://b.example/' })
    expect(request.headers).toEqual({ accept: '*/*' })
  })
})

describe('a query parameter', () => {
  it.each([
    ['https://a/', 'https://a/?n=v'],
    ['https://a/?', 'https://a/?n=v'],
    ['https://a/?x', 'https://a/?x&n=v'],
    ['https://a/?x&', 'https://a/?x&n=v'],
    ['https://a/?sig=a%2Fb+c&x=%7e', 'https://a/?sig=a%2Fb+c&x=%7e&n=v'],
  ])('a query parameter is added to %s', (url, expected) => {
    expect(withQueryParameter(url, 'n', 'v')).toBe(expected)
  })

  it.each([
    ['a&b=c#d', "x y+z/'(*)!~", 'a%26b%3Dc%23d=x%20y%2Bz%2F%27%28%2A%29%21~'],
    ['\ud800', '\u{1f600}', '%EF%BF%BD=%F0%9F%98%80'],
  ])('%j=%j is encoded, and read back', (name, value, expected) => {
    const url = withQueryParameter('https://a/', name, value)
    expect(url).toBe(`https://a/?${expected}`)
    expect(new URL(url).href).toBe(url)
    expect(queryValues(url, name.toWellFormed())).toEqual([value])
  })

  it.each([
    ['?key=1', ['1']],
    ['?k%65y=1&key=2', ['1', '2']],
    ['?key', ['']],
    ['?KEY=1', []],
    ['', []],
    ['#?key=1'.slice(0, 0), []],
  ])('a query parameter is found by its decoded name in %j', (query, values) => {
    expect(queryValues(`https://a/${query}`, 'key')).toEqual(values)
    expect(hasQueryParameter(`https://a/${query}`, 'key')).toBe(values.length > 0)
  })
})

describe('a body', () => {
  async function* chunked(sizes: readonly number[]): AsyncGenerator<Uint8Array> {
    let sent = 0
    for (const size of sizes) yield Uint8Array.from({ length: size }, () => sent++ % 251)
  }

  it.each([
    ['none', []],
    ['one', [5]],
    ['large ones', [2000, 1024, 70_000]],
    ['a large one between', [3, 4, 5000, 6, 7]],
    ['empty ones', [0, 3, 0, 2000, 0, 1]],
  ])('a body has the bytes of its chunks in their order: %s', async (_, sizes) => {
    const length = sizes.reduce((sum, size) => sum + size, 0)
    const bytes = await readBody(chunked(sizes), length, request.url)
    expect([...bytes]).toEqual(Array.from({ length }, (_item, index) => index % 251))
  })

  it('a body of many small chunks takes little more than its bytes', async () => {
    const { buffer } = await readBody(chunked(Array<number>(20_000).fill(1)), 1e6, request.url)
    expect(buffer.byteLength).toBeLessThan(2 * 20_001)
  })

  it('a body is not read beyond its limit', async () => {
    await expect(readBody(chunked([4, 4]), 7, request.url)).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  })
})
