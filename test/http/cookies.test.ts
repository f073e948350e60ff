import { describe, expect, it } from 'vitest'
import { CookieJar } from '../../src/http/cookies.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const jar = (start?: CookieJar) => new CookieJar(() => NOW, start)

describe('a Secure cookie', () => {
  it.each(['http://host.example/', 'http://127.0.0.1:8080/', 'http://localhost/'])('is not taken over http: %s', (url) => {
    const cookies = jar()
    cookies.keep(url, [
      's=1; Path=/; Secure',
      'S=1; Path=/;SECURE',
      '__Secure-a=1; Path=/; Secure',
      '__Host-b=1; Path=/; Secure',
      'plain=1; Path=/',
    ])
    expect(cookies.header(url, undefined)).toBe('plain=1')
  })

  it('and one without Secure are not sent over http when https set them', () => {
    const cookies = jar()
    cookies.keep('https://host.example/', ['s=1; Path=/; Secure', 'plain=1; Path=/'])
    expect(cookies.header('https://host.example/a', undefined)).toBe('s=1; plain=1')
    for (const url of ['http://host.example/a', 'https://host.example:8443/a', 'https://sub.host.example/a'])
      expect(cookies.header(url, undefined)).toBeUndefined()
  })

  it('is not replaced or deleted by a cookie that http sets', () => {
    const cookies = jar()
    cookies.keep('https://host.example/', ['s=1; Path=/; Secure'])
    cookies.keep('http://host.example/', ['s=2; Path=/', 's=; Path=/; Max-Age=0'])
    expect(cookies.header('https://host.example/', undefined)).toBe('s=1')
  })
})

describe('a cookie jar', () => {
  it('forgets the cookies of one origin, also in the jar that adopts it', () => {
    const kept = jar()
    for (const url of ['https://a.example/', 'https://b.example/']) kept.keep(url, ['s=1; Path=/'])
    const chain = jar(kept)
    chain.forget('https://a.example')
    expect([chain.header('https://a.example/', undefined), chain.header('https://b.example/', undefined)]).toEqual([undefined, 's=1'])
    expect(kept.header('https://a.example/', undefined)).toBe('s=1')
    kept.adopt(chain)
    expect([kept.header('https://a.example/', undefined), kept.header('https://b.example/', undefined)]).toEqual([undefined, 's=1'])
  })
})
