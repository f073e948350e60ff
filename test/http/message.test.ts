import { describe, expect, it } from 'vitest'
import { type HttpRequest, hasQueryParameter, queryValues, withHeader, withQueryParameter, withUrl } from '../../src/http/message.ts'

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
