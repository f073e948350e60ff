import { describe, expect, it } from 'vitest'
import { fetchArguments, requestOf } from '../../src/outputs/fetch.ts'
import { SECRET, withBearer, withQueryKey } from './requests.ts'

describe('fetchArguments', () => {
  it('carries method, headers and body over', () => {
    const [url, init] = fetchArguments({ ...withBearer, method: 'POST', body: 'a=1' })
    expect(url).toBe(withBearer.url)
    expect(init).toEqual({ method: 'POST', headers: withBearer.headers, body: 'a=1', redirect: 'follow', referrerPolicy: 'no-referrer' })
  })

  it('refuses redirects where a header would be carried on to another origin', () => {
    const withKey = { ...withBearer, headers: { 'x-api-key': SECRET }, secretIn: { headers: ['X-Api-Key'], url: false } }
    expect(fetchArguments(withKey)[1].redirect).toBe('error')
    expect(fetchArguments(withQueryKey)[1].redirect).toBe('follow')
  })

  it('copies, so that a caller may change what it gets', () => {
    const body = Uint8Array.of(1, 2)
    const [, init] = fetchArguments({ ...withBearer, method: 'POST', body })
    ;(init.body as Uint8Array)[0] = 9
    ;(init.headers as Record<string, string>).authorization = ''
    expect(body[0]).toBe(1)
    expect(withBearer.headers.authorization).toBe(`Bearer ${SECRET}`)
  })
})

describe('requestOf', () => {
  it('requestOf is a standard Request', async () => {
    const request = requestOf({ ...withBearer, method: 'POST', body: 'a=1' })
    expect(request).toBeInstanceOf(Request)
    expect([request.url, request.method, await request.text()]).toEqual([withBearer.url, 'POST', 'a=1'])
    expect(request.headers.get('authorization')).toBe(`Bearer ${SECRET}`)
  })
})
