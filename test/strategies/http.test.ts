import { describe, expect, it } from 'vitest'
import type { CredentialObject } from '../../src/auth/credential.ts'
import { bearer } from '../../src/auth/credential.ts'
import { canaryOf, leaks, shown } from '../harness/canary.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { DATA, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`

/** What the `Authorization` header says for an entry. */
async function headerFor(credential: CredentialObject, word: string): Promise<string | undefined> {
  const { auth } = victim({ credentials: unchecked({ ...credential, sendTo: DATA }) })
  return (await auth.authorize(target({ type: 'http', scheme: word }, F))).headers.authorization
}

const account = (username: unknown, password: unknown) => ({ type: 'http', scheme: 'basic', username, password })
const token = (value: unknown) => ({ type: 'http', scheme: 'bearer', token: value })
const text = (word: string, credentials: unknown) => ({ type: 'http', scheme: word, credentials })

describe('basic', () => {
  it.each([
    ['RFC 7617 §2', 'Aladdin', 'open sesame', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ=='],
    ['RFC 7617 §2.1', 'test', '123\u00a3', 'dGVzdDoxMjPCow=='],
    ['RFC 7617 §2.1, decomposed', 'te\u0301st', 'A\u030a', Buffer.from('t\u00e9st:\u00c5').toString('base64')],
    ['a password with colons', 'a', 'b:c', 'YTpiOmM='],
  ])('sends UTF-8: %s', async (_source, username, password, credentials) => {
    expect(await headerFor(account(username, password), 'Basic')).toBe(`Basic ${credentials}`)
    expect(
      await headerFor(
        account(username, () => Promise.resolve(password)),
        'BASIC',
      ),
    ).toBe(`Basic ${credentials}`)
    expect(
      await headerFor(
        account(async () => username, password),
        'basic',
      ),
    ).toBe(`Basic ${credentials}`)
  })
})

describe('bearer', () => {
  it('sends the token, whatever it comes from', async () => {
    for (const value of ['abc.DEF-1_2~3+/==', () => 'abc.DEF-1_2~3+/==', async () => 'abc.DEF-1_2~3+/==']) {
      expect(await headerFor(token(value), 'bearer')).toBe('Bearer abc.DEF-1_2~3+/==')
    }
  })

  it.each(['user:grant:secret', 'a!b', 'a=b', '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'])(
    'sends the token %s, which is VSCHAR',
    async (value) => {
      for (const given of [value, async () => value]) expect(await headerFor(token(given), 'bearer')).toBe(`Bearer ${value}`)
    },
  )

  it.each(['Bearer t0p-s3cret', 'bearer t0p-s3cret', 'BEARER   t0p-s3cret'])(
    'refuses the token "%s": the scheme name is not part of it',
    async (value) => {
      for (const given of [value, async () => value]) {
        const error = await failureOf(headerFor(token(given), 'bearer'))
        expect(error).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', message: expect.stringContaining('starts with "Bearer "') })
        expect(shown(error)).not.toContain('t0p-s3cret')
      }
    },
  )

  it('asks a function once for each request, and not for a look ahead', async () => {
    let asked = 0
    const { auth } = victim({ credentials: bearer(async () => `t${++asked}`, DATA) })
    const wanted = target(scheme.bearer, F)
    expect((await auth.authorize(wanted)).headers.authorization).toBe('Bearer t1')
    expect(auth.peek(wanted)).toBeUndefined()
    expect((await auth.authorize(wanted)).headers.authorization).toBe('Bearer t2')
    expect(asked).toBe(2)
  })
})

describe('ready-made text', () => {
  it.each([
    ['GNAP', 'gnap', 'GNAP abc'],
    ['a word outside the registry', 'x-custom', 'x-custom abc'],
    ["the name of a prototype's member", 'constructor', 'constructor abc'],
    ['a word whose challenge is not answered', 'digest', 'Digest abc'],
    ['a registered word, in its spelling', 'PRIVATETOKEN', 'PrivateToken abc'],
  ])('follows %s', async (_name, word, header) => {
    expect(await headerFor(text(word, 'abc'), word)).toBe(header)
  })

  it('ready-made text may hold anything that a header can', async () => {
    expect(await headerFor(text('dpop', 'a="b", c=d'), 'DPoP')).toBe('DPoP a="b", c=d')
  })
})

describe('H12 a value that cannot be sent', () => {
  const bad = ['', 'a\rb', 'a\nb', 'a\r\nX-Evil: 1', 'a\0b', ' a', 'a ', '\ta', 'x'.repeat(20_000)]
  const credentials: readonly [string, string, (value: unknown) => CredentialObject, readonly string[]][] = [
    ['a bearer token', 'bearer', token, [...bad, 'a b', 'a\tb', 'a\u007fb', 'p\u00e4ss', '\u{1f600}', 'a\u2028b']],
    ['a password', 'basic', (value) => account('ada', value), [...bad, 'a\u0007b']],
    ['a user name', 'basic', (value) => account(value, 'secret'), [...bad, 'a:b']],
    ['ready-made text', 'gnap', (value) => text('gnap', value), [...bad, 'p\u00e4ss', 'a\u007fb']],
  ]

  const rows = credentials.flatMap(([name, word, credential, values]) =>
    values.map((value) => ({ name, word, credential, value, label: JSON.stringify(value).slice(0, 20) })),
  )

  it.each(rows)('$name $label', async ({ word, credential, value }) => {
    for (const given of [value, () => value, async () => value]) {
      const error = await failureOf(headerFor(credential(given), word))
      expect(error).toMatchObject({ name: 'CredentialError', code: 'CREDENTIAL_VALUE_INVALID' })
      if (value.length > 8) expect(leaks([canaryOf(value)], { message: error.message, json: JSON.stringify(error) })).toEqual([])
    }
  })

  it.each([undefined, null, 5, {}, [], new Error('x')])(
    'H12 a value that cannot be sent is what a function gives that gives %j',
    async (value) => {
      expect(
        await failureOf(
          headerFor(
            token(() => value as never),
            'bearer',
          ),
        ),
      ).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID' })
    },
  )

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('hunter2-hunter2')
      },
    ],
    ['is rejected', () => Promise.reject(Object.assign(new Error('no'), { config: { headers: { authorization: 'hunter2-hunter2' } } }))],
    [
      'throws a text',
      () => {
        throw 'hunter2-hunter2'
      },
    ],
  ])('H12 a value that cannot be sent is missing when its function %s', async (_name, read) => {
    for (const [word, entry] of [
      ['bearer', token(read)],
      ['basic', account('ada', read)],
      ['basic', account(read, 'p')],
      ['gnap', text('gnap', read)],
    ] as const) {
      const error = await failureOf(headerFor(entry, word))
      expect(error).toMatchObject({ code: 'CREDENTIAL_SOURCE', hint: expect.stringContaining('log the error in that function') })
      expect(leaks([canaryOf('hunter2-hunter2')], { error: shown(error) })).toEqual([])
    }
  })
})

it('an account whose sources both fail is missing, and no failure is left unhandled', async () => {
  const late = () => new Promise((_resolve, reject) => setTimeout(reject, 20, new Error('no')))
  const entry = account(late, () => Promise.reject(new Error('no')))
  expect(await failureOf(headerFor(entry, 'basic'))).toMatchObject({ code: 'CREDENTIAL_SOURCE' })
})

describe('a scheme of type http', () => {
  it.each<[string, unknown, string]>([
    ['without a word', { type: 'http' }, ''],
    ['with a word that is no text', { type: 'http', scheme: ['basic'] }, ''],
    ['with a word that no header can begin with', { type: 'http', scheme: 'basic x\r\n' }, '/scheme'],
    ['with an empty word', { type: 'http', scheme: '' }, '/scheme'],
  ])('%s is SCHEME_INVALID', async (_name, k, at) => {
    const { auth } = victim()
    expect(await failureOf(auth.authorize(target(k, F)))).toMatchObject({
      code: 'SCHEME_INVALID',
      pointer: `/properties/auth:schemes/k${at}`,
    })
  })
})
