import { describe, expect, it } from 'vitest'
import { type Challenge, parseAuthenticationInfo, parseChallenges } from '../../src/http/challenge.ts'
import { caseCount } from '../harness/case-count.ts'
import { type Random, randomFrom } from '../harness/mutate.ts'

/** Challenges as plain lists: scheme, token68, parameters. */
function read(lines: string | readonly string[]): unknown[] {
  return parseChallenges(lines).challenges.map(plain)
}

function plain({ scheme, token68, params }: Challenge): unknown[] {
  return [scheme, ...(token68 === undefined ? [] : [token68]), Object.fromEntries(params)]
}

describe('challenges of real servers', () => {
  it.each([
    ['commas in a quoted string', 'Basic realm="a, b=c"', [['Basic', { realm: 'a, b=c' }]]],
    [
      'two challenges in one line',
      'Digest realm="x", nonce="n", qop="auth,auth-int", Basic realm="y"',
      [
        ['Digest', { realm: 'x', nonce: 'n', qop: 'auth,auth-int' }],
        ['Basic', { realm: 'y' }],
      ],
    ],
    ['token68', 'Negotiate YII=', [['Negotiate', 'YII=', {}]]],
    [
      'a bare scheme before another',
      'Negotiate, Basic realm="x"',
      [
        ['Negotiate', {}],
        ['Basic', { realm: 'x' }],
      ],
    ],
    ['escapes', 'Basic realm="a\\"b"', [['Basic', { realm: 'a"b' }]]],
    ['a bare scheme', 'Bearer', [['Bearer', {}]]],
    [
      'base64 in parameters',
      'PrivateToken challenge="abc=", token-key="MIIB==", max-age=10',
      [['PrivateToken', { challenge: 'abc=', 'token-key': 'MIIB==', 'max-age': '10' }]],
    ],
    ['blanks around =', 'Bearer realm = "x" , error="invalid_token"', [['Bearer', { realm: 'x', error: 'invalid_token' }]]],
    [
      'empty list elements (RFC 9110 §11.6.1)',
      ', ,Newauth realm="apps", type=1, title="Login to \\"apps\\"", , Basic realm="simple",',
      [
        ['Newauth', { realm: 'apps', type: '1', title: 'Login to "apps"' }],
        ['Basic', { realm: 'simple' }],
      ],
    ],
    [
      'one challenge per line, in order',
      ['Digest realm="r", algorithm=SHA-256, nonce="a"', 'Digest realm="r", algorithm=MD5, nonce="b"'],
      [
        ['Digest', { realm: 'r', algorithm: 'SHA-256', nonce: 'a' }],
        ['Digest', { realm: 'r', algorithm: 'MD5', nonce: 'b' }],
      ],
    ],
    [
      'parameters after a token68',
      'Negotiate oXEw==, SCRAM-SHA-256 sid=AAA, data=biws',
      [
        ['Negotiate', 'oXEw==', {}],
        ['SCRAM-SHA-256', { sid: 'AAA', data: 'biws' }],
      ],
    ],
    ['base64 without quotes (RFC 7804 §5)', 'SCRAM-SHA-1 sid=AAA, data=cj/+eQ==', [['SCRAM-SHA-1', { sid: 'AAA', data: 'cj/+eQ==' }]]],
    ['a tab after the scheme', 'Basic\trealm=""', [['Basic', { realm: '' }]]],
    ['a token68 that looks like a parameter', 'Basic realm=', [['Basic', 'realm=', {}]]],
    ['an unquoted realm', 'Basic realm=x', [['Basic', { realm: 'x' }]]],
    ['names in capitals', 'BASIC REALM="X"', [['BASIC', { realm: 'X' }]]],
    [
      "the names of a prototype's members",
      'Basic __proto__="a", constructor="b"',
      [
        [
          'Basic',
          Object.fromEntries([
            ['__proto__', 'a'],
            ['constructor', 'b'],
          ]),
        ],
      ],
    ],
    ['nothing', '', []],
  ])('%s', (_what, lines, challenges) => {
    expect(parseChallenges(lines)).toMatchObject({ problems: [] })
    expect(read(lines)).toEqual(challenges)
  })

  it('reads UTF-8 where the challenge says so, and leaves the rest as it is', () => {
    const utf8 = 'Z\u00c3\u00bcrich'
    expect(read(`Basic realm="${utf8}", charset="UTF-8"`)).toEqual([['Basic', { realm: 'Zürich', charset: 'UTF-8' }]])
    expect(read(`Basic realm="${utf8}"`)).toEqual([['Basic', { realm: utf8 }]])
    expect(read('Basic realm="Z\u00fcrich", charset=utf-8')).toEqual([['Basic', { realm: 'Z\u00fcrich', charset: 'utf-8' }]])
    expect(read('Basic realm="Zürich →", charset=utf-8')).toEqual([['Basic', { realm: 'Zürich →', charset: 'utf-8' }]])
  })
})

describe('broken challenges', () => {
  it.each([
    ['an open quoted string', 'Basic realm="open', []],
    ['a parameter of nothing', '="x"', []],
    ['a parameter without a scheme', 'realm="x"', []],
    ['a missing comma between challenges', 'Basic realm="x" Bearer realm="y"', [['Basic', { realm: 'x' }]]],
    ['a missing comma between parameters', 'Basic realm="x", Digest realm="y" nonce="n"', [['Basic', { realm: 'x' }]]],
    ['a parameter without a value', 'Bearer, Basic realm="x", title=', [['Bearer', {}]]],
    ['two words', 'Basic foo bar', [['Basic', {}]]],
    ['a name twice', 'Basic realm="a", REALM="b"', []],
    ['a name twice, before a good one', 'Basic realm="a", Realm="a", Bearer', [['Bearer', {}]]],
    ['a control character', 'Bearer, Basic realm="a\u0007b"', [['Bearer', {}]]],
    ['an escaped line break', 'Basic realm="a\\\nb"', []],
    ['a scheme that is none', 'Bearer, (x)', []],
    ['a parameter of a token68', 'Negotiate YII=, realm="x"', [['Negotiate', 'YII=', {}]]],
  ])('%s is one problem', (_what, line, challenges) => {
    expect(read(line)).toEqual(challenges)
    expect(parseChallenges(line).problems).toHaveLength(1)
  })

  it('costs only its own line', () => {
    expect(read(['Basic realm="open', 'Bearer'])).toEqual([['Bearer', {}]])
  })

  it('an error about a broken challenge omits its values', () => {
    const { problems } = parseChallenges('Basic realm="hush", realm="hush", nonce="hush" hush="x"')
    expect(problems).toEqual(['a comma is missing between two challenges or parameters'])
    expect(parseChallenges('Basic realm="hush", realm="hush"').problems).toEqual(['a challenge names the parameter "realm" twice'])
  })

  it('reads 8 kB per line and 32 challenges', () => {
    const long = `Basic realm="${'a'.repeat(8178)}"`
    expect(long).toHaveLength(8192)
    expect(read([long, 'Bearer'])).toHaveLength(2)
    expect(parseChallenges([`${long} `, 'Bearer'])).toMatchObject({
      challenges: [{ scheme: 'Bearer' }],
      problems: ['the line is longer than 8192 bytes'],
    })
    expect(parseChallenges(Array(40).fill('A').join(','))).toMatchObject({
      challenges: Array(32).fill({ scheme: 'A' }),
      problems: ['there are more than 32 challenges'],
    })
    expect(parseChallenges(Array(32).fill('A'))).toMatchObject({ problems: [] })
  })
})

describe('Authentication-Info', () => {
  it.each([
    ['RFC 7615 §3', 'rspauth="abc", qop=auth, cnonce="x, y", nc=00000001', { rspauth: 'abc', qop: 'auth', cnonce: 'x, y', nc: '00000001' }],
    ['nothing', '', {}],
    ['empty elements', ' , nextnonce = "n",,', { nextnonce: 'n' }],
    ['a scheme word', 'Digest nextnonce="n"', {}],
    ['a missing comma', 'nextnonce="n" rspauth="a"', {}],
    ['a name twice', 'nextnonce="n", nextnonce="m"', {}],
    ['an open quoted string', 'qop=auth, nextnonce="n', {}],
    ['more than 8 kB', `nextnonce="n", a="${'a'.repeat(8192)}"`, {}],
  ])('%s', (_what, line, params) => {
    expect(Object.fromEntries(parseAuthenticationInfo(line))).toEqual(params)
  })
})

const TOKEN = [..."!#$%&'*+.^_`|~09azAZ-"]
const TOKEN68 = [...'AZaz09._~+/-']
const QUOTABLE = [...'\t !#,=\\"[]~az\u0080\u00ff']

describe('generated challenges', () => {
  it('generated challenges are read as they were written', () => {
    const { pick, below } = randomFrom(7)
    const text = (chars: readonly string[], least: number) => Array.from({ length: least + below(9) }, () => pick(chars)).join('')
    for (let round = 0; round < 3000; round++) {
      const challenges = Array.from({ length: below(6) }, (): Challenge => {
        const scheme = text(TOKEN, 1)
        if (below(4) === 0) return { scheme, token68: text(TOKEN68, 1) + '='.repeat(below(3)), params: new Map() }
        const names = Array.from({ length: below(5) }, (_, index) => `${text(TOKEN, 1).toLowerCase().replaceAll('*', '.')}${index}`)
        return { scheme, params: new Map(names.map((name) => [name, text(QUOTABLE, 0)])) }
      })
      const line = challenges.map((challenge) => written(challenge, pick)).join(pick([',', ', ', '\t,, , ']))
      expect(parseChallenges(line), line).toEqual({ challenges, problems: [] })
    }
  })
})

function written({ scheme, token68, params }: Challenge, pick: Random['pick']): string {
  const list = [...params].map(([name, value]) => {
    const isToken = /^[\w!#.~-]+$/.test(value) && pick([true, false])
    return `${name}${pick(['=', ' = ', '=\t'])}${isToken ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`
  })
  return [scheme, ...(token68 ? [token68] : list.length ? [list.join(pick([',', ' , ', ', ,']))] : [])].join(pick([' ', '  ']))
}

describe('damaged challenges', () => {
  const SEEDS = ['Digest realm="a, b", nonce=n, stale=true, Basic realm="x"', 'Negotiate YII=, Bearer', ',= "\\"', 'a '.repeat(50)]
  const BITS = ['"', '\\', ',', '=', ' ', '\t', '\0', '\n', 'Basic ', 'a=b', '\u00ff', '\ud800', 'realm="', 'YII=', '*']

  it('never throw, and keep to their limits', () => {
    const { pick, below } = randomFrom(11)
    const count = caseCount(20_000, 2_000)
    for (let round = 0; round < count; round++) {
      let line = pick(SEEDS)
      for (let edits = 1 + below(6); edits > 0; edits--) {
        const at = below(line.length + 1)
        line = line.slice(0, at) + pick(BITS) + line.slice(at + below(4))
      }
      const { challenges, problems } = parseChallenges([line, line])
      expect(challenges.length).toBeLessThanOrEqual(32)
      for (const { scheme } of challenges) expect(scheme).toMatch(/^[!-~]+$/)
      for (const problem of problems) expect(problem).toMatch(/^[ -~]+$/)
      parseAuthenticationInfo(line)
    }
  })

  it.each(['a', 'a ', 'a=', 'a= ', ',', ' ', '"', '\\"', 'a="b" ', 'a,', 'a=b,', 'A b=c,', 'A a', '\t=', 'A =a ', 'a/'])(
    'damaged challenges are read to the end, however often they repeat: %j',
    (bit) => {
      for (const head of ['', 'A ', 'A a="', 'A a=']) {
        for (const tail of ['', '"', '\0']) {
          const line = (head + bit.repeat(8192)).slice(0, 8190) + tail
          expect(parseChallenges(line).challenges.length).toBeLessThanOrEqual(32)
          parseAuthenticationInfo(line)
        }
      }
    },
  )
})
