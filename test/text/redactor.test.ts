import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Redactor } from '../../src/text/redactor.ts'
import { caseCount } from '../harness/case-count.ts'

const RUNS = { numRuns: fc.readConfigureGlobal().numRuns ?? caseCount(300, 75) }
const hexOf = (secret: string) => Buffer.from(secret).toString('hex')
const units = (secret: string, write: (unit: string, code: number) => string) =>
  [...secret]
    .map((char) =>
      /^[A-Za-z0-9]$/.test(char)
        ? char
        : char
            .split('')
            .map((unit) => write(unit, unit.charCodeAt(0)))
            .join(''),
    )
    .join('')
const points = (secret: string, write: (code: number) => string) => [...secret].map((char) => write(char.codePointAt(0) ?? 0)).join('')

/** How a server may write what it was sent. */
const ENCODINGS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  'percent, upper case': (secret) => encodeURIComponent(secret),
  'percent, lower case': (secret) => encodeURIComponent(secret).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  'percent, every byte': (secret) => hexOf(secret).replace(/../g, '%$&'),
  form: (secret) => new URLSearchParams([['', secret]]).toString().slice(1),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64 without padding': (secret) => Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'base64 in lines': (secret) =>
    (
      Buffer.from(secret)
        .toString('base64')
        .match(/.{1,8}/g) ?? []
    ).join('\r\n'),
  'base64 of an account': (secret) => Buffer.from(`ada:${secret}`).toString('base64'),
  'base64 of more text around': (secret) => Buffer.from(`{"a":"x","secret":"${secret}","b":1}`).toString('base64'),
  'hex, lower case': hexOf,
  'hex, upper case': (secret) => hexOf(secret).toUpperCase(),
  JSON: (secret) => JSON.stringify(secret).slice(1, -1),
  'JSON in ASCII': (secret) => units(secret, (_unit, code) => `\\u${code.toString(16).padStart(4, '0')}`),
  'JSON in ASCII, upper case': (secret) => units(secret, (_unit, code) => `\\u${code.toString(16).padStart(4, '0').toUpperCase()}`),
  'code points of JavaScript': (secret) => points(secret, (code) => `\\u{${code.toString(16)}}`),
  'HTML, decimal': (secret) => points(secret, (code) => `&#${code};`),
  'HTML, hexadecimal': (secret) => points(secret, (code) => `&#x${code.toString(16)};`),
  'HTML, names': (secret) =>
    secret.replace(/[&<>"']/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' })[char] ?? char),
  quoted: (secret) => inspect(secret).slice(1, -1),
  backslashes: (secret) => secret.replace(/[^A-Za-z0-9]/gu, (char) => (/[\p{L}\p{N}\s]/u.test(char) ? char : `\\${char}`)),
  'Latin-1 taken for characters': (secret) => Buffer.from(secret).toString('latin1'),
  'JSON in JSON': (secret) => JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
  'base64 with escaped slashes': (secret) => Buffer.from(secret).toString('base64').replaceAll('/', '\\/'),
  'base64 in a form': (secret) => encodeURIComponent(Buffer.from(secret).toString('base64')),
  'percent in HTML': (secret) => encodeURIComponent(secret).replaceAll('%', '&#37;'),
}

/** What stands around it. */
const PLACES: Readonly<Record<string, (form: string) => string>> = {
  alone: (form) => form,
  'in a sentence': (form) => `The key ${form} is wrong.`,
  quoted: (form) => `bad "${form}"; '${form}'`,
  'in JSON': (form) => `{"message":"no ${form}","list":["${form}"]}`,
  'in a URL': (form) => `GET /v1/things?key=${form}&page=2 HTTP/1.1`,
  'in HTML': (form) => `<p class="error">${form}</p>`,
}

/** Encodings that are read inside each other. */
const NESTED = Object.fromEntries(
  [
    ...['percent, upper case', 'percent, every byte', 'form', 'base64', 'base64url', 'base64 of an account'],
    ...['hex, lower case', 'JSON', 'JSON in ASCII', 'HTML, decimal', 'HTML, names'],
  ].map((name) => [name, ENCODINGS[name] ?? String] as const),
)

/** Escapes and digits of all kinds, which have nothing to do with a secret. */
const noise = fc
  .array(
    fc.constantFrom(
      ...['%25', '%2525', '%C3%BC', '%', '\\\\', '\\"', '\\u0025', '\\u005c', '\\', '&amp;', '&amp;amp;', '&#37;', '&#x5c;', '&', '+', ' '],
      ...['JTI1', 'SlRJMUpUST0=', '%5cu0025', '&#37;41', '\\u00264', '3225', '32353235', 'text', 'YWJj\n', '/', '=', '{"a":"b"}'],
    ),
    { maxLength: 120 },
  )
  .map((parts) => parts.join(''))

/** Any Unicode text; long enough to be told from other text, and with something that occurs nowhere else. */
const secrets = fc
  .tuple(
    fc.string({ unit: 'grapheme', minLength: 4, maxLength: 24 }),
    fc.constantFrom('Zq7', 'öß', 'пароль', '密码锁', '🔑🗝', '+/=&%', '\\"\'<>', ' a b '),
  )
  .map(([text, more]) => `${text}${more}${text}`.toWellFormed())
  .filter((text) => [...text].length >= 8)

/** The shortest prefix of a secret that is removed also where the rest of the secret does not follow. */
const prefix = (secret: string) => [...secret].slice(0, 4).join('')

function redactorOf(...known: readonly string[]): Redactor {
  const redactor = new Redactor()
  for (const secret of known) redactor.add(secret)
  return redactor
}

/** The beginning of a form that must not be seen: longer than what may. */
const beginning = (form: string) => form.slice(0, Math.max(8, Math.ceil(form.length / 2)))

describe('a redactor', () => {
  it.each(Object.keys(ENCODINGS))('takes secrets out that a server wrote as %s, wherever they stand', (name) => {
    const encode = ENCODINGS[name] ?? String
    fc.assert(
      fc.property(secrets, fc.constantFrom(...Object.values(PLACES)), (secret, place) => {
        const form = encode(secret)
        const shown = redactorOf(secret).scrub(place(form))
        expect(shown).toContain('[secret]')
        expect(shown).not.toContain(form)
        expect(shown).not.toContain(beginning(form))
        // What stands around it stays, unless it contains a prefix of the secret that a cut secret may end with.
        for (const piece of place('\0').split('\0'))
          if (piece.length > 4 && !secret.includes(piece) && !piece.includes(prefix(secret))) expect(shown).toContain(piece.slice(-4))
      }),
      RUNS,
    )
  })

  it.each(Object.keys(ENCODINGS))('removes what is left of a secret that was cut, written as %s', (name) => {
    const encode = ENCODINGS[name] ?? String
    fc.assert(
      fc.property(secrets, fc.nat(), (secret, cut) => {
        const part = [...secret].slice(0, 4 + (cut % ([...secret].length - 3))).join('')
        expect(redactorOf(secret).scrub(`: ${encode(part)}`)).not.toContain(encode(part))
      }),
      { numRuns: fc.readConfigureGlobal().numRuns ?? 60 },
    )
  })

  it('leaves nothing of two secrets of which one begins as the other does, or ends as the other begins', () => {
    const encodings = fc.constantFrom(...Object.values(ENCODINGS))
    fc.assert(
      fc.property(secrets, secrets, encodings, (first, second, encode) => {
        for (const [known, text] of [
          [[first, first + second], first + second],
          [[first + second, first], first + second],
          [[first, first + second], first],
          [[first + second, second + first], first + second + first],
        ] as const)
          expect(
            redactorOf(...known)
              .scrub(`: ${encode(text)}`)
              .replaceAll('[secret]', ''),
          ).not.toContain(beginning(encode(second)))
      }),
      RUNS,
    )
  })

  it.each(['öffne-dich', 'пароль', '打开芝麻门', 'plain-word', 'päss:wörd:ß', '🔑🗝🔒🔓'])(
    'knows the password of a Basic header: %s',
    (password) => {
      for (const charset of ['utf8', ...(/^[\0-\xff]*$/.test(password) ? (['latin1'] as const) : [])] as const) {
        const redactor = new Redactor()
        const value = `Basic ${Buffer.from(`ada:${password}`, charset).toString('base64')}`
        redactor.addHeader(value)
        for (const [name, encode] of Object.entries(ENCODINGS)) {
          expect(redactor.scrub(`you sent ${encode(password)}.`), name).not.toContain(encode(password))
          expect(redactor.scrub(`you sent ${encode(`ada:${password}`)}.`), name).not.toContain(encode(`ada:${password}`))
        }
        expect(redactor.scrub(`authorization: ${value}`)).toBe('authorization: Basic [secret]')
      }
    },
  )

  it('finds a secret in every nesting of two encodings, whatever stands beside it', () => {
    const names = Object.keys(NESTED)
    for (const outer of names)
      for (const inner of names)
        fc.assert(
          fc.property(secrets, noise, noise, (secret, before, after) => {
            const form = NESTED[outer]?.(NESTED[inner]?.(secret) ?? '') ?? ''
            const shown = redactorOf(secret).scrub(`${before} ${form} ${after}`)
            expect(shown, `${inner} in ${outer}`).toContain('[secret]')
            expect(shown, `${inner} in ${outer}`).not.toContain(beginning(form))
          }),
          { numRuns: 4 },
        )
  })

  it('finds a secret in three encodings beside others', () => {
    const three = fc.constantFrom(...Object.values(NESTED))
    fc.assert(
      fc.property(secrets, three, three, three, noise, (secret, first, second, third, before) => {
        const form = first(second(third(secret)))
        expect(redactorOf(secret).scrub(`${before} ${form}`)).not.toContain(beginning(form))
      }),
      { numRuns: fc.readConfigureGlobal().numRuns ?? 60 },
    )
  })

  it.each(['%', '%4', '\\', '\\x', '\\u', '&', '&#', '&amp', '\\\\\\', 'A', '4', '=', '+'])(
    'finds an encoded secret directly behind %j, which takes its first characters',
    (before) => {
      const secret = 'abcd/ef+12"34 ü-56'
      for (const [name, encode] of Object.entries(ENCODINGS)) {
        const form = encode(secret)
        // At most the escapes of three characters are left.
        expect(redactorOf(secret).scrub(`${before}${form}`), name).not.toContain(form.slice(form.length / 4))
      }
    },
  )

  it('removes a prefix of four characters within other words, and leaves one of three', () => {
    const redactor = redactorOf('rong   Zq7rong   ')
    expect(redactor.scrub('The key is wrong, and so is wron.')).toBe('The key is w[secret], and so is wron.')
  })

  it('leaves other text as it is, escapes and encodings included', () => {
    const redactor = redactorOf('s3cr3t-öffne-dich', 'пароль-密码')
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        fc.pre(!text.includes('s3cr') && !text.includes('паро'))
        for (const encode of Object.values(ENCODINGS)) expect(redactor.scrub(encode(text))).toBe(encode(text))
      }),
      RUNS,
    )
    expect(redactor.scrub('{"a":"\\u00f6","b":"%C3%B6 &ouml;"}')).toBe('{"a":"\\u00f6","b":"%C3%B6 &ouml;"}')
  })

  it('leaves JSON that can still be parsed', () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        for (const encode of [ENCODINGS.JSON, ENCODINGS['JSON in ASCII']]) {
          const shown = redactorOf(secret).scrub(`{"message":"no ${encode?.(secret)}.","more":1}`)
          expect(JSON.parse(shown)).toEqual({ message: expect.stringMatching(/^no (?:\[secret\])+\.$/), more: 1 })
        }
      }),
      RUNS,
    )
  })

  it.each<[string, string, string]>([
    ['with every control character in JSON', 'a\bb\fc\nd\re\tf', 'a\\bb\\fc\\nd\\re\\tf'],
    ['with a vertical tab and a NUL in JavaScript', 'one\vtwo\0three', 'one\\vtwo\\0three'],
    ['with the characters of HTML', `a&b<c>d'e"f`, 'a&amp;b&lt;c&gt;d&apos;e&quot;f'],
    ['with named letters of HTML', 'päßwörd ÿ', 'p&auml;&szlig;w&ouml;rd &yuml;'],
    ['with spaces in a form', 'one two three', 'one+two+three'],
    ['of bytes of two, three and four in percent', 'ö€🔑é', '%C3%B6%E2%82%AC%F0%9F%94%91%C3%A9'],
    ['of Latin-1 in percent', 'öäüß', '%F6%E4%FC%DF'],
    ['of the last character of Unicode', 'key\u{10ffff}key', 'key&#x10FFFF;key'],
    ['with a reference to a character beyond Unicode', 'key\ufffdkey', 'key&#x110000;key'],
    ['with spaces and signs in a form', 'one two&three', 'one+two%26three'],
    ['with letters of which some are in percent', 'schlüssel-öß', 'schl%C3%BCssel-öß'],
    ['with a byte order mark in percent', 'key\ufeffkey', 'key%EF%BB%BFkey'],
    ['in Latin-1 in base64', 'öffne-dich-ß', Buffer.from('öffne-dich-ß', 'latin1').toString('base64')],
    ['in Latin-1 in hexadecimal digits', 'öffne-dich', Buffer.from('öffne-dich', 'latin1').toString('hex')],
    ['in an encoding in an encoding in an encoding', 'a/b"c<d', encodeURIComponent(encodeURIComponent(encodeURIComponent('a/b"c<d')))],
    ['with escapes of three kinds', 's3cr3t-key!', 's3c%72&#51;\\u0074-key!'],
    ['in a form, as JSON in JSON', 'one "two"', 'one+%5C%5C%5C%22two%5C%5C%5C%22'],
    ['in base64 that ends in the middle of a byte', 's3cr3t-key', Buffer.from('s3cr3t-key').toString('base64').slice(0, 9)],
    ['in hexadecimal digits that end in the middle of a byte', 's3cr3t-key', hexOf('s3cr3t-key').slice(0, 9)],
  ])('removes a whole secret %s, and no more', (_name, secret, form) => {
    expect(redactorOf(secret).scrub(`key="${form}".`)).toBe('key="[secret]".')
  })

  it('removes what of percent-encoded text is the secret, and leaves what stands beside it', () => {
    const percent = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding).toString('hex').replace(/../g, '%$&')
    const redactor = redactorOf('öffne-€🔑')
    for (const around of ['AB', 'ß€', '🗝\n'])
      for (const encoding of ['utf8', 'latin1'] as const) {
        const beside = percent(around, encoding)
        expect(redactor.scrub(`${beside}${percent('öffne-€🔑')}${beside}`), beside).toBe(`${beside}[secret]${beside}`)
      }
  })

  it('removes the digits of base64 and hexadecimal numbers that a secret has a part in, and no others', () => {
    const redactor = redactorOf('s3cr3t-key12')
    for (const beside of [0, 1, 2, 3, 4]) {
      const letters = 'abcd'.slice(0, beside)
      const whole = Buffer.from(`${letters}s3cr3t-key12${letters}`)
      // A digit of base64 has six bits.
      const [from, to] = [Math.floor((beside * 8) / 6), Math.ceil(((beside + 12) * 8) / 6)]
      const base64 = whole.toString('base64')
      expect(redactor.scrub(base64)).toBe(`${base64.slice(0, from)}[secret]${base64.slice(to)}`)
      const hex = whole.toString('hex')
      expect(redactor.scrub(hex)).toBe(`${hex.slice(0, 2 * beside)}[secret]${hex.slice(2 * beside + 24)}`)
    }
  })

  it('removes base64 and hexadecimal digits directly behind other letters, also when the rest was cut off', () => {
    const redactor = redactorOf('s3cr3t-key12')
    for (const letters of ['', 'a', 'ab', 'abc', 'abcd'])
      for (const form of [Buffer.from('s3cr3t-key12').toString('base64'), hexOf('s3cr3t-key12')])
        for (const end of [form.length, 9]) expect(redactor.scrub(`!${letters}${form.slice(0, end)}`)).toBe(`!${letters}[secret]`)
  })

  it('keeps words that decode to a secret only when joined, except where a line ends between them', () => {
    const redactor = redactorOf('s3cr3t-key12')
    for (const between of [', ', ' ', '.', '\n\n\n', '\r\n\r\n', '\n \n']) {
      const text = `czNj${between}cjN0${between}LWtl${between}eTEy`
      expect(redactor.scrub(text)).toBe(text)
    }
    for (const between of ['\n', '\r\n', '\n\n']) expect(redactor.scrub(`czNj${between}cjN0${between}LWtl`)).toBe('[secret]')
  })

  it('leaves words that only resemble the beginning of a secret', () => {
    for (const text of ['abc\u00e4fgh', 'iccdefgh', 'abc\udbe4', 'abcabcabc', 'bcdefgh', 'abc', ''])
      expect(redactorOf('abcdefgh').scrub(text)).toBe(text)
  })

  it('removes eight characters behind the first four of a secret, and leaves shorter or later parts', () => {
    const redactor = redactorOf('abcdefghijklmn')
    expect(redactor.scrub('bcdefghi. efghijkl.')).toBe('[secret]. [secret].')
    for (const text of ['bcdefgh.', 'efghijk.', 'fghijklmn']) expect(redactor.scrub(text)).toBe(text)
  })

  it('leaves what is the bytes of a secret only when each character is cut to one', () => {
    expect(redactorOf('пароль').scrub('?0@>;L')).toBe('?0@>;L')
  })

  it('removes exactly what begins as a secret for four or more characters, however it repeats itself', () => {
    const words = (minLength: number, maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'a', 'b'), minLength, maxLength })
    fc.assert(
      fc.property(words(4, 8), words(0, 40), fc.constantFrom('', '-'), (secret, text, gap) => {
        const whole = `${text}${gap}${secret}`
        const isHidden = Array.from(whole, () => false)
        for (const start of isHidden.keys()) {
          let length = 0
          while (length < secret.length && whole[start + length] === secret[length]) length++
          if (length >= 4) isHidden.fill(true, start, start + length)
        }
        const expected = Array.from(whole, (char, at) => (isHidden[at] ? '#' : char)).join('')
        expect(
          redactorOf(secret)
            .scrub(whole)
            .replace(/(?:\[secret\])+/g, '#'),
        ).toBe(expected.replace(/#+/g, '#'))
      }),
      RUNS,
    )
  })

  it('finds a secret behind thousands of characters of escaped text', () => {
    const twice = encodeURIComponent(encodeURIComponent('s3cr3t/key'))
    const before = 'text%20'.repeat(2000)
    expect(redactorOf('s3cr3t/key').scrub(`${before}${twice}.`)).toBe(`${before}[secret].`)
  })

  it('removes secrets that overlap or repeat themselves as one, and keeps what stands between others', () => {
    expect(redactorOf('abcdefgh').scrub('<abcdefghabcdefgh>')).toBe('<[secret][secret]>')
    expect(redactorOf('abababab').scrub('<abababababab>')).toBe('<[secret]>')
    expect(redactorOf('abcdabce').scrub('<abcdabcdabce>')).toBe('<[secret]>')
    expect(redactorOf('abcdefgh', 'ghijklmn').scrub('<abcdefghijklmn> and abcdefgh')).not.toMatch(/abcd|ijkl|klmn/)
    expect(redactorOf('abcdefgh', 'ijklmnop').scrub('abcdefgh, ijklmnop')).toBe('[secret], [secret]')
    expect(redactorOf('abcdefgh').scrub('abcdefgh-abcdefgh')).toBe('[secret]-[secret]')
    expect(redactorOf('abcdefgh', 'cdef').scrub('<abcdefgh>')).toBe('<[secret]>')
  })

  it('removes the secret members of a body by their names, whatever the body is', () => {
    const redactor = new Redactor()
    for (const body of [null, undefined, 'access_token', 7, []]) redactor.addMembers(body, ['access_token', 'length', 'toString'])
    redactor.addMembers({ access_token: 'tok-1234', expires_in: 36_000, scope: 'scope-one' }, ['access_token', 'expires_in', 'toString'])
    expect(redactor.scrub('tok-1234 36000 scope-one access_token')).toBe('[secret] 36000 scope-one access_token')
  })

  it('removes the value of a header without its scheme, and each quoted parameter by itself', () => {
    const redactor = new Redactor()
    redactor.addHeader('OAuth realm="", oauth_token="first-token", oauth_signature="second%2Btoken"')
    redactor.addHeader('Bearer third-token')
    redactor.addHeader('fourth-token')
    redactor.addHeader('5th and last')
    expect(redactor.scrub('OAuth first-token; second%2Btoken; Bearer third-token; fourth-token; 5th and last')).toBe(
      'OAuth [secret]; [secret]; Bearer [secret]; [secret]; [secret]',
    )
  })

  it('knows a password with colons, and one of UTF-8 that a server writes in Latin-1', () => {
    const redactor = new Redactor()
    redactor.addHeader(`Basic ${Buffer.from('ada.lovelace:päss:wörd').toString('base64')}`)
    expect(redactor.scrub('päss:wörd, p%E4ss:w%F6rd')).toBe('[secret], [secret]')
  })

  it('reads a user name and a password only where the scheme is Basic', () => {
    const login = Buffer.from('public:message').toString('base64')
    const [bearer, basic] = [new Redactor(), new Redactor()]
    bearer.addHeader(`Bearer ${login}`)
    basic.addHeader(`BASIC ${login}`)
    expect(bearer.scrub(`${login}: public:message`)).toBe('[secret]: public:message')
    expect(basic.scrub(`${login}: public:message, message`)).toBe('[secret]: [secret], [secret]')
  })

  it('knows the last thousand secrets, of which it forgets the older half for another one', () => {
    const secretOf = (index: number) => String(index).padStart(4, '0').repeat(3)
    const redactor = new Redactor()
    for (let index = 0; index < 1000; index++) redactor.add(secretOf(index))
    expect([0, 500, 999].map((index) => redactor.scrub(secretOf(index)))).toEqual(Array(3).fill('[secret]'))
    redactor.add(secretOf(1000))
    expect([0, 499, 500, 1000].map((index) => redactor.scrub(secretOf(index)))).toEqual([...[0, 499].map(secretOf), '[secret]', '[secret]'])
  })

  it('forgets no secret for a thousand that are too short', () => {
    const redactor = redactorOf('abcdefgh')
    for (let index = 0; index < 1000; index++) redactor.add(String(index).padStart(3, '0'))
    expect(redactor.scrub('abcdefgh')).toBe('[secret]')
  })

  it('does not know secrets of three characters', () => {
    const redactor = redactorOf('abc', '', '🔑🗝🔒')
    expect(redactor.scrub('abc abcabc 🔑🗝🔒')).toBe('abc abcabc 🔑🗝🔒')
    redactor.add('wxyz')
    expect([redactor.scrub('wxyz'), redactor.scrub('abc'), redactor.scrub('')]).toEqual(['[secret]', 'abc', ''])
  })

  it('shows no secret when it is shown itself', () => {
    const redactor = redactorOf('s3cr3t-öffne-dich')
    expect([inspect(redactor), JSON.stringify(redactor)]).toEqual(['[secret]', '"[secret]"'])
  })
})
