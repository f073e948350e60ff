import { describe, expect, it } from 'vitest'
import { harmlessHeaders } from '../../src/http/headers.ts'
import { type HttpRequest, isRedirect } from '../../src/http/message.ts'
import { locationOf, redirected } from '../../src/http/redirect.ts'
import { thrownBy } from '../harness/failure.ts'

const FROM = 'https://data.example/a/b?x=1'
const none: ReadonlySet<string> = new Set()
/** UTF-8 as HTTP clients return it. */
const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const at = (location: string | null, from = FROM, named = none) => locationOf(location, from, named, 3)

describe('a Location', () => {
  it.each([
    ['/c', 'https://data.example/c'],
    ['c', 'https://data.example/a/c'],
    ['?y', 'https://data.example/a/b?y'],
    ['https://other.example/c#f', 'https://other.example/c#f'],
    ['//other.example/c', 'https://other.example/c'],
    ['/c d?e f', 'https://data.example/c%20d?e%20f'],
    [latin1('/\u00fc b/\u6771'), 'https://data.example/%C3%BC%20b/%E6%9D%B1'],
    [latin1('//b\u00fccher.example/\u00fc'), 'https://xn--bcher-kva.example/%C3%BC'],
    ['/caf\u00e9', 'https://data.example/caf%E9'],
    [latin1('\ufeffhttps://other.example/'), 'https://data.example/a/%EF%BB%BFhttps://other.example/'],
    ['/\u00fcber\u6771', 'https://data.example/%C3%BCber%E6%9D%B1'],
  ])('%s leads to %s', (location, href) => {
    expect(at(location).href).toBe(href)
  })

  it.each([
    [null, 'REDIRECT_INVALID'],
    ['', 'REDIRECT_INVALID'],
    ['///other.example', 'REDIRECT_INVALID'],
    ['//u:p@other.example', 'REDIRECT_INVALID'],
    ['//10.0.0.1/', 'URL_ADDRESS_FORBIDDEN'],
    ['/\\other.example', 'REDIRECT_INVALID'],
    ['/a\tb', 'REDIRECT_INVALID'],
    ['/a ', 'REDIRECT_INVALID'],
    ['https://caf\u00e9.example/', 'REDIRECT_INVALID'],
    ['s3://bucket/key', 'REDIRECT_INVALID'],
    ['mailto:a@b', 'REDIRECT_INVALID'],
    ['http://data.example/', 'REDIRECT_DOWNGRADE'],
    ['https://192.168.0.1/', 'URL_ADDRESS_FORBIDDEN'],
  ])('%j is %s, and is not quoted', (location, code) => {
    const error = thrownBy(() => at(location && `${location}`))
    expect(error).toMatchObject({ name: 'TrustError', code, hop: 3, url: 'https://data.example/a/b' })
    if (location) expect(error.message).not.toContain(location)
  })

  it('a Location to a private address names both ends and what would allow it', () => {
    expect(thrownBy(() => at('https://192.168.0.1/secret?x'))).toMatchObject({
      message: 'https://data.example redirects to https://192.168.0.1, which is a loopback or private address that you did not name',
      hint: 'if you trust that host: stac-auth credentials trust ID https://192.168.0.1/; in code, "sendTo" of a credential',
    })
    expect(thrownBy(() => at('http://192.168.0.1/', 'http://data.example/'))).not.toHaveProperty('hint')
  })

  it('a Location may lead from loopback to loopback, and up to encryption, where the user named it', () => {
    const named = new Set(['http://127.0.0.1:1', 'http://127.0.0.1:2'])
    expect(at('http://127.0.0.1:2/', 'http://127.0.0.1:1/', named).port).toBe('2')
    expect(at('https://data.example/', 'http://127.0.0.1:1/', named).protocol).toBe('https:')
    expect(thrownBy(() => at('http://127.0.0.1:3/', 'http://127.0.0.1:1/', named))).toMatchObject({
      code: 'URL_ADDRESS_FORBIDDEN',
      hint: 'if you trust that host: stac-auth credentials trust ID http://127.0.0.1:3/; in code, "sendTo" of a credential',
    })
  })
})

describe('the request of the next hop', () => {
  const headers = {
    accept: 'a',
    'accept-language': 'b',
    range: 'c',
    'if-range': 'd',
    'user-agent': 'e',
    authorization: 'f',
    'x-mine': 'g',
    'content-type': 'h',
    cookie: 'i',
    referer: 'j',
  }
  const kept = { accept: 'a', 'accept-language': 'b', range: 'c', 'if-range': 'd', 'user-agent': 'e' }
  const request: HttpRequest = { method: 'GET', url: FROM, headers }
  const SAME = new URL('https://data.example/c#f#g')
  const OTHER = new URL('https://other.example/c#f')

  it("keeps everything of the caller's on the same origin, without fragment", () => {
    expect(redirected(request, 302, SAME, 0)).toEqual({ ...request, url: 'https://data.example/c' })
  })

  it.each([301, 302, 303, 307, 308])('keeps by %i what is harmless on another', (status) => {
    expect(redirected(request, status, OTHER, 0)).toEqual({ method: 'GET', url: 'https://other.example/c', headers: kept })
    expect(redirected({ ...request, method: 'DELETE' }, status, OTHER, 0).method).toBe('GET')
    expect(redirected({ ...request, method: 'HEAD' }, status, OTHER, 0).method).toBe('HEAD')
  })

  it('keeps a body only where it stays', () => {
    const post = { ...request, method: 'POST', body: 'x' }
    expect(redirected(post, 308, SAME, 0)).toMatchObject({ method: 'POST', body: 'x', headers })
    expect(redirected(post, 303, SAME, 0)).not.toHaveProperty('body')
    expect(redirected(post, 303, SAME, 0).headers).not.toHaveProperty('content-type')
    expect(redirected(post, 301, OTHER, 0)).toEqual({ method: 'GET', url: 'https://other.example/c', headers: kept })
    expect(thrownBy(() => redirected(post, 307, OTHER, 2))).toMatchObject({ code: 'REDIRECT_CROSS_ORIGIN', hop: 2 })
    expect(thrownBy(() => redirected({ ...post, method: 'PUT' }, 302, OTHER, 2))).toMatchObject({ code: 'REDIRECT_CROSS_ORIGIN' })
  })

  it('has no headers of a body after 303, also when the first request had none', () => {
    const posted: HttpRequest = { method: 'GET', url: FROM, headers: { accept: 'a', 'content-type': 'application/json' } }
    expect(redirected(posted, 303, new URL('https://data.example/c'), 0).headers).toEqual({ accept: 'a' })
  })

  it('counts another port or scheme as another origin', () => {
    expect(redirected(request, 302, new URL('https://data.example:8443/'), 0).headers).toEqual(kept)
    expect(harmlessHeaders({ cookie: 'a' })).toEqual({})
  })
})

it.each([
  [301, true],
  [302, true],
  [303, true],
  [307, true],
  [308, true],
  [200, false],
  [300, false],
  [304, false],
  [399, false],
])('status %i is a redirect: %s', (status, expected) => {
  expect(isRedirect(status)).toBe(expected)
})
