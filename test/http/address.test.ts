import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf, bareAddress, isAddress, isAddressProblem, RELATIVE, urlOfHref } from '../../src/http/url.ts'
import { caseCount } from '../harness/case-count.ts'

const named = new Set(['http://127.0.0.1:8080', 'https://10.0.0.1'])

/** The href, or the code of the refusal. */
function outcome(text: string, base?: string, secure = true): string {
  const url = addressOf(text, { base, secure, named })
  return isAddressProblem(url) ? url.code : url.href
}

describe('an address', () => {
  it.each([
    ['https://data.example/a%2Fb?x=a+b', 'https://data.example/a%2Fb?x=a+b'],
    ['HTTPS://DATA.example:443/f', 'https://data.example/f'],
    ['https://b\u00fccher.example/', 'https://xn--bcher-kva.example/'],
    ['https://data.example', 'https://data.example/'],
    ['https://data.example:8443?x', 'https://data.example:8443/?x'],
    ['https://93.184.215.14/', 'https://93.184.215.14/'],
    ['s3://eo/a%20b', 's3://eo/a%20b'],
    ['s3://eo/a b', 's3://eo/a%20b'],
    ['https://data.example/a b/\u00fc?c d=\u00fc#e f', 'https://data.example/a%20b/%C3%BC?c%20d=%C3%BC#e%20f'],
    ['https://data.example/a%20b c%2Fd', 'https://data.example/a%20b%20c%2Fd'],
    ['http://127.0.0.1:8080/f', 'http://127.0.0.1:8080/f'],
    ['https://10.0.0.1/f', 'https://10.0.0.1/f'],
  ])('%s is %s', (text, href) => {
    expect(outcome(text)).toBe(href)
  })

  it.each([
    ['', 'URL_INVALID'],
    [' https://data.example/a', 'URL_INVALID'],
    ['https://data.example/a ', 'URL_INVALID'],
    ['https://data. example/a', 'URL_INVALID'],
    ['s3://buc ket/a', 'URL_INVALID'],
    ['https:// data.example/a', 'URL_INVALID'],
    ['https://a b@data.example/', 'URL_HAS_USERINFO'],
    ['https://data.example/\u0000', 'URL_INVALID'],
    ['https://data.example/\u007f', 'URL_INVALID'],
    ['https:\\\\data.example', 'URL_INVALID'],
    ['//data.example/', 'URL_INVALID'],
    ['///data.example/', 'URL_INVALID'],
    ['https:/data.example', 'URL_INVALID'],
    ['https:///data.example', 'URL_INVALID'],
    ['https://?x', 'URL_INVALID'],
    ['https://data.example./', 'URL_INVALID'],
    ['https://data.example.:443/', 'URL_INVALID'],
    ['https://data.example\u3002/f', 'URL_INVALID'],
    ['https://data.example\uff0e:443/f', 'URL_INVALID'],
    ['s3://bucket./key', 'URL_INVALID'],
    ['s3://\ufb01/key', 'URL_INVALID'],
    ['s3://b\u00fccket/key', 'URL_INVALID'],
    ['https://data%2eexample/', 'URL_INVALID'],
    ['https://*.data.example/', 'URL_INVALID'],
    ['https://\uff0a.data.example/', 'URL_INVALID'],
    ['https://da*ta.example/', 'URL_INVALID'],
    ['s3://*/key', 'URL_INVALID'],
    ['https://data.example:99999/', 'URL_INVALID'],
    ['https://[::1/', 'URL_INVALID'],
    ['s3:bucket/key', 'URL_INVALID'],
    [`https://data.example/${'a'.repeat(8192)}`, 'URL_INVALID'],
    ['relative/path', 'URL_INVALID'],
    ['file:///etc/passwd', 'URL_SCHEME_FORBIDDEN'],
    ['javascript:alert(1)', 'URL_SCHEME_FORBIDDEN'],
    ['ftp://data.example/', 'URL_SCHEME_FORBIDDEN'],
    ['blob:https://data.example/', 'URL_SCHEME_FORBIDDEN'],
    ['C:/windows', 'URL_SCHEME_FORBIDDEN'],
    ['https://u@data.example/', 'URL_HAS_USERINFO'],
    ['https://token@h/', 'URL_HAS_USERINFO'],
    ['https://:p@data.example/', 'URL_HAS_USERINFO'],
    ['items/a:b.tif', 'URL_INVALID'],
    ['a:b.tif', 'URL_SCHEME_FORBIDDEN'],
    ['https://@data.example/', 'URL_HAS_USERINFO'],
    ['s3://u:p@bucket/', 'URL_HAS_USERINFO'],
    ['http://data.example/', 'URL_INSECURE'],
    ['http://127.0.0.1:8081/', 'URL_INSECURE'],
    ['http://10.0.0.1/', 'URL_INSECURE'],
    ['https://127.0.0.1:8080/', 'URL_ADDRESS_FORBIDDEN'],
    ['https://10.0.0.2/', 'URL_ADDRESS_FORBIDDEN'],
    ['https://10.0.0.1:8443/', 'URL_ADDRESS_FORBIDDEN'],
    ['https://localhost/', 'URL_ADDRESS_FORBIDDEN'],
    ['https://[fe80::1]/', 'URL_ADDRESS_FORBIDDEN'],
  ])('%j is %s', (text, code) => {
    expect(outcome(text)).toBe(code)
  })

  it('an address may go without encryption where no secret follows', () => {
    expect(outcome('http://data.example/', undefined, false)).toBe('http://data.example/')
    expect(outcome('http://10.0.0.2/', undefined, false)).toBe('URL_ADDRESS_FORBIDDEN')
  })

  it.each([
    ['f.tif', 'https://data.example/a/item.json', 'https://data.example/a/f.tif'],
    ['../../../f.tif', 'https://data.example/a/item.json', 'https://data.example/f.tif'],
    ['/f?x#y', 'https://data.example/a/item.json', 'https://data.example/f?x#y'],
    ['?x', 'https://data.example/a', 'https://data.example/a?x'],
    ['items/a:b.tif', 'https://data.example/c/item.json', 'https://data.example/c/items/a:b.tif'],
    ['./a:b.tif', 'https://data.example/c/item.json', 'https://data.example/c/a:b.tif'],
    ['f', 'http://data.example/', 'URL_INSECURE'],
    ['f', 'https://u:p@data.example/', 'URL_HAS_USERINFO'],
    ['f', 'https://localhost/', 'URL_ADDRESS_FORBIDDEN'],
    ['f', 'not a base', 'URL_INVALID'],
    ['b', 's3://eo/a', 's3://eo/b'],
  ])('%s below %s is %s', (text, base, expected) => {
    expect(outcome(text, base)).toBe(expected)
  })

  it.each([
    ['https://data.example/a/.b/../../c?x=/../y#/../z', 'https://data.example/c?x=/../y#/../z'],
    ['https://data.example/a/.;/../../c', 'https://data.example/c'],
    ['https://data.example/a/.b/..', 'https://data.example/a/'],
    ['https://data.example/a/.b/.', 'https://data.example/a/.b/'],
    ['https://data.example/.b/.../c', 'https://data.example/.b/.../c'],
    ['s3://eo/a/.b/../../c', 's3://eo/c'],
  ])('%s is where servers see it, whatever the parser leaves in it: %s', (text, expected) => {
    expect(outcome(text)).toBe(expected)
  })

  it('an address is never at a host that its text does not write, and never throws', () => {
    const part = fc.constantFrom(
      'https:',
      'http:',
      's3:',
      '/',
      '//',
      '\\',
      '@',
      ':',
      '?',
      '#',
      '%',
      '.',
      'data.example',
      'evil.example',
      '127.0.0.1',
      '[::1]',
      'a',
      '\t',
      '\u3002',
      '%2e',
    )
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
        (text) => {
          const url = addressOf(text, { base: 'https://base.example/x/', secure: true, named: new Set() })
          if (isAddressProblem(url)) return
          expect(url.username + url.password).toBe('')
          expect(url.hostname === 'base.example' || text.toLowerCase().replaceAll('\u3002', '.').includes(url.hostname)).toBe(true)
          expect(url.hostname).not.toMatch(/^127|^\[::1/)
        },
      ),
      { numRuns: caseCount(2000, 300), seed: 20261120 },
    )
  })
})

describe('the text of a URL', () => {
  it('is at most 8192 characters long', () => {
    const of = (length: number) => `https://data.example/${'a'.repeat(length - 21)}`
    expect(outcome(of(8192))).toBe(of(8192))
    expect(outcome(of(8193))).toBe('URL_INVALID')
  })

  it.each([
    ['', 'is missing'],
    ['https://@/', 'has a host name that parsers read differently'],
    ['https://:443/', 'has a host name that parsers read differently'],
    ['https://a@.:443/', 'has a host name that parsers read differently'],
    ['https://a.:443/', 'has a host name that parsers read differently'],
    ['https://.a@data.example/', 'has a user name or password in it'],
    ['https:/a', 'does not write out "https://host"'],
    ['https:x//a', 'does not write out "https://host"'],
    ['https://[::1/', 'is not a valid URL'],
    ['relative/path', RELATIVE.message],
  ])('is refused: %j %s', (text, message) => {
    expect(urlOfHref(text, {})).toMatchObject({ message })
  })

  it('that cannot be resolved is not called relative where a base is known', () => {
    expect(urlOfHref('f', { base: 'not a base' })).toMatchObject({ message: 'is not a valid URL' })
    expect(urlOfHref('https://a.example\u3002/', {})).toMatchObject({ message: 'is not a valid URL' })
  })

  it('inherits no user information from its base', () => {
    for (const base of ['https://u@data.example/', 'https://:p@data.example/', 'https://u:p@data.example/'])
      expect(outcome('f', base)).toBe('URL_HAS_USERINFO')
  })

  it('of an object is read without a check of the network, but only for objects', () => {
    expect(outcome('s3://internal/key')).toBe('s3://internal/key')
    expect(outcome('s3://10.0.0.1/key')).toBe('s3://10.0.0.1/key')
  })

  it('is without its query where only the place counts', () => {
    expect(bareAddress('https://data.example:8443/a/b.tif?sig=abc#x')).toBe('https://data.example:8443/a/b.tif')
    expect(bareAddress('s3://bucket/a/b.tif?versionId=1')).toBe('s3://bucket/a/b.tif')
  })

  it('begins with http: or https:, and two slashes', () => {
    expect(['https://a', 'HTTP://a', 'http:/a', 'xhttp://a', 's3://a', 'a/https://b'].map(isAddress)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ])
  })
})

it('a URL that may get a secret is not http:, even with a named origin, unless it is this machine', () => {
  const rules = { secure: true, named: new Set(['http://data.example', 'http://127.0.0.1:8080']) }
  expect(addressOf('http://data.example/a', rules)).toMatchObject({ code: 'URL_INSECURE' })
  expect(addressOf('http://127.0.0.1:8080/a', rules)).toBeInstanceOf(URL)
})

it.each([
  ['https:/a/https://b.example/', 'URL_INVALID', /does not write out "https:/],
  ['https://ada@secret%40word@data.example/', 'URL_HAS_USERINFO', /user name or password/],
])('the text of an address is judged from its start: %s', (text, code, message) => {
  expect(urlOfHref(text, {})).toMatchObject({ code, message: expect.stringMatching(message) })
})
