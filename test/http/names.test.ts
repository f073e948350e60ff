import { describe, expect, it } from 'vitest'
import { isRegisteredScheme, REGISTERED_SCHEMES, spellingOf } from '../../src/http/challenge.ts'
import { isForbiddenHeader, isToken } from '../../src/http/headers.ts'

describe('a header name', () => {
  it.each(['Authorization', 'x-api-key', 'X-Auth-Token', 'apikey', 'Accept', 'constructor', 'x-if', 'secret'])(
    '%s may carry a secret',
    (name) => {
      expect(isForbiddenHeader(name)).toBe(false)
    },
  )

  it.each([
    '',
    'a b',
    'a:b',
    'a\r\nb',
    '\u00e4',
    'a\u0000',
    '__proto__',
    '__PROTO__',
    'HOST',
    'Content-Length',
    'content-encoding',
    'Content-Type',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
    'Upgrade',
    'Expect',
    'TE',
    'Trailer',
    'Proxy-Authenticate',
    'Proxy-X',
    'Sec-Anything',
    'Cookie',
    'Set-Cookie',
    'Origin',
    'Referer',
    'Range',
    'If-None-Match',
    'Accept-Encoding',
    'Via',
    'Forwarded',
    'X-Forwarded-Host',
    'X-HTTP-Method',
    'X-HTTP-Method-Override',
    'X-Method-Override',
  ])('%j may not', (name) => {
    expect(isForbiddenHeader(name)).toBe(true)
  })

  it('a header name is a token of RFC 9110', () => {
    expect(isToken("!#$%&'*+-.^_`|~09azAZ")).toBe(true)
    for (const char of '()<>@,;:\\"/[]?={} \t\u007f\u0080') expect(isToken(`a${char}`)).toBe(false)
  })
})

describe('an authentication scheme', () => {
  it('an authentication scheme has the spelling of the registry, in whatever case it comes', () => {
    expect(spellingOf('BASIC')).toBe('Basic')
    expect(spellingOf('dpop')).toBe('DPoP')
    expect(spellingOf('VAPID')).toBe('vapid')
    expect(spellingOf('X-Mine')).toBe('X-Mine')
    for (const name of REGISTERED_SCHEMES) expect(isRegisteredScheme(name.toUpperCase())).toBe(true)
    expect(isRegisteredScheme('constructor')).toBe(false)
  })
})
