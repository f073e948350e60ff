import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { bearer } from '../../src/auth/credential.ts'
import { covers, matchesAny, namedOrigin, narrowness, parseUrlPattern } from '../../src/auth/url-pattern.ts'
import { addressOf, isAddressProblem } from '../../src/http/url.ts'
import { caseCount } from '../harness/case-count.ts'
import { failureOf, thrownBy } from '../harness/failure.ts'

const none: ReadonlySet<string> = new Set()

/** What becomes of an address under one pattern: covered, not covered, or the code of its refusal. */
function verdict(pattern: string, address: string): string {
  const grant = parseUrlPattern(pattern)
  const named = new Set(grant.wildcard || grant.scheme === 's3' ? [] : [new URL(pattern).origin])
  const url = addressOf(address, { secure: true, named })
  if (isAddressProblem(url)) return url.code
  return covers(grant, url) ? 'granted' : 'refused'
}

describe('patterns', () => {
  it.each([
    ['https://data.example/', 'https://data.example/a/b.tif?x=1', 'granted'],
    ['https://data.example', 'https://DATA.EXAMPLE/f', 'granted'],
    ['https://data.example/', 'https://data.example:443/f', 'granted'],
    ['https://data.example:8443/', 'https://data.example:8443/f', 'granted'],
    ['https://data.example/', 'https://data.example/a%2Fb', 'granted'],
    ['https://*.tiles.example/', 'https://a.tiles.example/1', 'granted'],
    ['https://*.tiles.example/', 'https://a.b.tiles.example/1', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/items/1', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac', 'granted'],
    ['https://xn--bcher-kva.example/', 'https://bücher.example/f', 'granted'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/f', 'granted'],
    ['https://s3.eu-central-1.amazonaws.com/eo/', 'https://s3.eu-central-1.amazonaws.com/eo/k', 'granted'],
    ['s3://eo/', 's3://eo/a/b', 'granted'],
    ['https://data.example/', 'https://data.example.evil.example/f', 'refused'],
    ['https://data.example/', 'https://evildata.example/f', 'refused'],
    ['https://data.example/', 'https://sub.data.example/f', 'refused'],
    ['https://data.example/', 'https://data.example:8443/f', 'refused'],
    ['https://data.example/', 'http://data.example/f', 'URL_INSECURE'],
    ['https://data.example/', 'https://data.example@evil.example/', 'URL_HAS_USERINFO'],
    ['https://data.example/', 'https://u:p@data.example/f', 'URL_HAS_USERINFO'],
    ['https://data.example/', 'https://token@data.example/f', 'URL_HAS_USERINFO'],
    ['https://data.example/', 'https://data.example./f', 'URL_INVALID'],
    ['https://*.tiles.example/', 'https://a.tiles.example\u3002/f', 'URL_INVALID'],
    ['https://data.example/', 'https://data.example\\@evil.example/', 'URL_INVALID'],
    ['https://data.example/', 'https://data.example%2eevil.example/', 'URL_INVALID'],
    ['https://data.example/', 'https://d\u0430ta.example/f', 'refused'],
    ['https://data.example/', '//data.example/f', 'URL_INVALID'],
    ['https://*.tiles.example/', 'https://tiles.example/1', 'refused'],
    ['https://*.tiles.example/', 'https://eviltiles.example/1', 'refused'],
    ['https://*.tiles.example/', 'https://a.tiles.example:444/1', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stacked/1', 'refused'],
    ['https://api.example/stac/', 'https://api.example/sta', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/../admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%2e%2e/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/.a/../../admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/.a/../b', 'granted'],
    ['https://s3.eu-central-1.amazonaws.com/eo/', 'https://s3.eu-central-1.amazonaws.com/eo/.a/../../eo-evil/k', 'refused'],
    ['s3://eo/a/', 's3://eo/a/.x/../../b', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/..%2fadmin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%c0%ae%C0%AE/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%e0%80%ae%e0%80%ae/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%25c0%25ae%c0%25ae/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%f0%80%80%ae%f0%80%80%ae/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/100%25used.tif', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/%uff0e%uff0e%uff0fadmin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%u002e%u002e/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/caf%c3%a9/%e9%80%ae', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/..%252fadmin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%25%32%65%25%32%65/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/x%25%32%66..%252%46..%25%32fadmin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/x%%32%66..%2%66admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/x%25%35%63..%5%43admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/50%25%20%31.tif', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/..;/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/..%00/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/..%20/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/x%0a/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/x%20HTTP/1.0%0D%0A%0D%0AGET%20/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/x%250a', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%09../admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%1F../admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%2500../admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%20../admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%20%2520..', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%20.%20/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%20..b', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/%20b', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/%', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%zz/x', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/100%25.tif', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/100%25/e', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/50%25%20x.tif', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/%EF%BC%8E%EF%BC%8E/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/..\uff0fadmin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/\uff0e\uff0e/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/x%E2%88%95..%E2%88%95admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/\u2024\u2024/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/a\u2044b', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/a\uff3cb', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/a\u00a5b', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/a\u20a9b', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/\u3002\u3002/b', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/a\u2026b', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%E0%80%AF/admin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%f8%80%80%80%af', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%fc%80%80%80%80%ae', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%ed%a0%80', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%ff', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/a%E2%80%8Bb', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%E3%85%A4', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%C2%85', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/u%CC%88ber', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/%41dmin', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/..%3Fx', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/..%23/x', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/..%3B/x', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/...', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/\u00fcber%20\u2013%20\u6771\u4eac\u300c1\u300d.tif', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/a%28b%29+c%3Dd%26e%7Ef%5B1%5D.tif', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/.hidden/..x/_y', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac/a[1].tif', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/a|b', 'refused'],
    ['https://api.example/', 'https://api.example/stac/\uff0e\uff0e/x', 'granted'],
    ['https://api.example/', 'https://api.example/stac/%zz/x', 'granted'],
    ['https://api.example/', 'https://api.example/stac/x%0a/admin', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stac', 'granted'],
    ['https://api.example/stac/', 'https://api.example/stacked', 'refused'],
    ['https://api.example/stac/', 'https://api.example/stac/a%5Cb', 'refused'],
    ['https://api.example/stac/', 'https://api.example/STAC/1', 'refused'],
    ['https://api.example/stac', 'https://api.example/stac', 'granted'],
    ['https://api.example/stac', 'https://api.example/stac/items/1', 'granted'],
    ['https://api.example/stac', 'https://api.example/stacked', 'refused'],
    ['https://api.example/stac', 'https://api.example/stacked/1', 'refused'],
    ['s3://eo/a', 's3://eo/ab', 'refused'],
    ['https://s3.eu-central-1.amazonaws.com/eo/', 'https://s3.eu-central-1.amazonaws.com/eo-evil/k', 'refused'],
    ['s3://eo/', 's3://eo-evil/k', 'refused'],
    ['s3://eo/', 'https://eo/a', 'refused'],
    ['https://eo/', 's3://eo/a', 'refused'],
    ['s3://eo/a/', 's3://eo/b', 'refused'],
    ['https://127.0.0.1/', 'https://127.0.0.1:9200/', 'URL_ADDRESS_FORBIDDEN'],
    ['https://data.example/', 'file:///etc/passwd', 'URL_SCHEME_FORBIDDEN'],
    ['https://data.example/', 'javascript:alert(1)', 'URL_SCHEME_FORBIDDEN'],
    ['https://data.example/', 'https:data.example', 'URL_INVALID'],
    ['https://data.example/', 'https:///data.example/', 'URL_INVALID'],
    ['https://data.example/', 'https://data.example/a b', 'granted'],
    ['https://data.example/x/', 'https://data.example/x/ ../b', 'refused'],
    ['https://data.example/', 'https://exa\tmple.com/', 'URL_INVALID'],
    ['https://data.example/', `https://data.example/${'a'.repeat(8200)}`, 'URL_INVALID'],
  ])('%s and %s: %s', (pattern, address, expected) => {
    expect(verdict(pattern, address)).toBe(expected)
  })

  it.each([
    '*',
    'https://*/',
    'https://*.com/',
    'https://a.*.example/',
    'https://u@a.example/',
    'https://token@h/',
    'https://u:p@a.example/',
    'http://a.example/',
    'https://*.s3.amazonaws.com/',
    'https://*.github.io/',
    'https://*.blob.core.windows.net/',
    'https://*.core.windows.net/',
    'https://*.github.io\u3002/',
    'https://a.example\u3002/',
    'https://a.example\uff0e/',
    'https://a.example/.x/../../y/',
    'https://s3.eu-central-1.amazonaws.com/',
    'https://storage.googleapis.com/',
    'https://raw.githubusercontent.com/',
    'https://a.example/?q=1',
    'https://a.example/#f',
    'https://a.example\\b',
    'https://a.example./',
    'https://a.example/x%2fy/',
    'https://a.example,https://b.example',
    'https://a.example,b.example/',
    'https://a.example:/',
    'https://a.example//x/',
    'ftp://a.example/',
    'xhttps://a.example/',
    'https://*.example/',
    'https://a.example:99999/',
    'https://[::1/',
    's3://bücket/',
    's3://,bucket/',
    's3://bucket,/',
    's3://Bücket/',
    'gs://Bucket/',
    'gs://a..b/',
    'a.example',
    's3://*.bucket/',
    's3://bucket/../c/',
    'https://a.example/x/%2e%2e/',
    '',
  ])('refuses the pattern %j', (pattern) => {
    expect(() => parseUrlPattern(pattern)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })

  it.each(['eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl', 'https://ada:hunter-two@a.example/', 'https://a.example/?token=hunter-two'])(
    'does not show what stands in the place of a pattern when it may be a secret: %s',
    async (secret) => {
      const inArguments = failureOf(createAuth({ credentials: [bearer('https://a.example/', secret)] }).ready())
      for (const error of [thrownBy(() => parseUrlPattern(secret)), await inArguments]) {
        expect(error).toMatchObject({ code: 'CONFIG_INVALID', actual: '…' })
        expect(JSON.stringify(error) + error.message).not.toMatch(/eyJ|hunter/)
      }
    },
  )

  it.each(['/stac/.a/../../admin', '/stac/./../admin', '/stac/..', '/stac/.'])(
    'covers no path of dots that a parser left: %s',
    (pathname) => {
      const left = { protocol: 'https:', hostname: 'api.example', port: '', pathname }
      expect(covers(parseUrlPattern('https://api.example/stac/'), left as URL)).toBe(false)
    },
  )

  it('lets signed URLs point to shared storage, where no material follows', () => {
    expect(
      covers(parseUrlPattern('https://*.blob.core.windows.net/', { sharedHosts: true }), new URL('https://a.blob.core.windows.net/c')),
    ).toBe(true)
  })

  it('refuses a wildcard of one label also where the hosts may be shared', () => {
    for (const pattern of ['https://*.com/', 'https://*.example/'])
      expect(() => parseUrlPattern(pattern, { sharedHosts: true })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })

  it('takes a host for shared only when it is all of the name', () => {
    for (const host of ['storage.googleapis.com.example', 'xs3.amazonaws.example', 'my-storage.example'])
      expect(parseUrlPattern(`https://${host}/`).host).toBe(host)
    expect(parseUrlPattern('https://xraw.githubusercontent.com/').host).toBe('xraw.githubusercontent.com')
    expect(parseUrlPattern('https://raw.githubusercontent.com.au/').host).toBe('raw.githubusercontent.com.au')
  })

  it('decides whether a host is shared without trying every way to read it', () => {
    for (const host of [`s3${'-'.repeat(50)}.example`, `s3${'.-a'.repeat(2000)}.example`])
      expect(parseUrlPattern(`https://${host}/`).host).toBe(host)
  })

  it('takes s3: and gs: URLs for what they mean, and shows them as they were written', () => {
    expect(parseUrlPattern('gs://bucket/a')).toMatchObject({ pattern: 'gs://bucket/a', scheme: 'https', path: '/bucket/a/' })
    expect(parseUrlPattern('s3://Bucket_1.x-y')).toMatchObject({ scheme: 's3', host: 'Bucket_1.x-y', wildcard: false, port: '', path: '/' })
  })

  it('matches URLs of its scheme only, also of one as long', () => {
    const url = (protocol: string) => ({ protocol, hostname: 'a.example', port: '', pathname: '/f' }) as URL
    const pattern = parseUrlPattern('https://a.example/')
    expect([url('https:'), url('httpx:'), url('http:'), url('https-x:')].map((other) => covers(pattern, other))).toEqual([
      true,
      false,
      false,
      false,
    ])
  })

  it('matches a list of patterns when it matches one of them', () => {
    const patterns = ['https://a.example/', 'https://b.example/'].map((pattern) => parseUrlPattern(pattern))
    expect([matchesAny(patterns, new URL('https://b.example/f')), matchesAny(patterns, new URL('https://c.example/f'))]).toEqual([
      true,
      false,
    ])
    expect(matchesAny([], new URL('https://a.example/'))).toBe(false)
  })

  it.each([
    ['https://A.example/x/', 'https://a.example'],
    ['https://a.example:8443/', 'https://a.example:8443'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['https://*.a.example/', undefined],
    ['s3://bucket/', undefined],
  ])('%s names the origin %s', (pattern, origin) => {
    expect(namedOrigin(parseUrlPattern(pattern))).toBe(origin)
  })

  it('calls a longer host narrower than a longer path below a wildcard', () => {
    const [host, path] = ['https://*.a.tiles.example.org/', `https://*.tiles.example.org/${'x/'.repeat(100)}`].map((pattern) =>
      narrowness(parseUrlPattern(pattern)),
    )
    expect(host).toBeGreaterThan(path ?? 0)
  })

  it('shows the pattern that it refuses, and why', () => {
    expect(() => parseUrlPattern('gs://Bucket/')).toThrow('"gs://Bucket/" is not a valid URL pattern: it is not gs://bucket/key')
  })

  it.each(['a.example', '*.a.example:8443/x/', 'localhost', 'http:a'])('says how a pattern is written instead of %s', (pattern) => {
    const message = '"…" is not a valid URL pattern: write https://host[:port][/path/]; "*." only before a host'
    expect(() => parseUrlPattern(pattern)).toThrow(expect.objectContaining({ message }))
  })

  it('says that a pattern needs no * at its end', () => {
    expect(() => parseUrlPattern('https://a.example/*')).toThrow(
      '"https://a.example/*" is not a valid URL pattern: write https://host[:port][/path/]; "*." only before a host',
    )
  })

  it('shows no secret of a pattern that it refuses', () => {
    for (const pattern of ['token.a.example', 'https://token@h/', 'https://h/?key=token', 'https://h/#token', ' token https://h/']) {
      expect(() => parseUrlPattern(pattern)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('token') }))
    }
  })

  it('calls an exact host narrower than a wildcard and a path narrower than an origin', () => {
    const widths = [
      'https://*.example.org/',
      'https://*.tiles.example.org/',
      'https://a.tiles.example.org/',
      'https://a.tiles.example.org/x/',
    ]
    const order = widths.map((pattern) => narrowness(parseUrlPattern(pattern)))
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(new Set(order).size).toBe(4)
  })

  it('agrees with a second, naive implementation', () => {
    const label = fc.constantFrom('a', 'b', 'tiles', 'evil', 'data')
    const host = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => [...labels, 'example'].join('.'))
    const path = fc.array(fc.constantFrom('x', 'y', 'x%2fy', '..;', 'xy'), { maxLength: 3 }).map((parts) => `/${parts.join('/')}`)
    const port = fc.constantFrom('', ':443', ':8443')
    const url = fc.tuple(host, port, path).map((parts) => `https://${parts.join('')}`)
    const folder = fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }).map((parts) => `/${parts.map((part) => `${part}/`).join('')}`)
    const pattern = fc.tuple(fc.boolean(), fc.constantFrom('data.example', 'a.data.example'), port, folder)
    fc.assert(
      fc.property(pattern, url, ([wild, granted, at, below], address) => {
        const parsed = new URL(address)
        const hostFits = wild ? parsed.hostname.endsWith(`.${granted}`) : parsed.hostname === granted
        const portFits = (parsed.port || '443') === (at.slice(1) || '443')
        const slippery = /%2f|\.\.;/.test(parsed.pathname)
        const pathFits = below === '/' || (!slippery && `${parsed.pathname}/`.startsWith(below))
        const allowed = parseUrlPattern(`https://${wild ? '*.' : ''}${granted}${at}${below}`)
        expect(covers(allowed, parsed)).toBe(hostFits && portFits && pathFits)
      }),
      { numRuns: caseCount(2000, 300) },
    )
  })
})

describe('addresses of private networks', () => {
  it.each([
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://[::ffff:169.254.169.254]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[::127.0.0.1]/',
    'https://\uff11\uff12\uff17.\uff10.\uff10.\uff11/',
    'https://localhost/',
    'https://x.localhost/',
    'https://printer.local/',
    'https://metadata.internal/',
    'https://[::1]:9200/',
    'https://10.0.0.1/',
  ])('%s', (address) => {
    expect(addressOf(address, { secure: true, named: none })).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
  })
})
