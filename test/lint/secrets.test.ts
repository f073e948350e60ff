import { describe, expect, it } from 'vitest'
import { fixText } from '../../src/lint/fix/fix-text.ts'
import { lint, lintText } from '../../src/lint/index.ts'
import { hasSecretLine, pretty } from '../../src/lint/reporters/pretty.ts'
import { reportOf } from '../../src/lint/reporters/report.ts'
import { isSecret, looksSecret, secretParameter } from '../../src/lint/secrets.ts'
import { EXTENSION } from '../harness/documents.ts'

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl'
const BASIC = { type: 'http', scheme: 'basic' }

function item(schemes: unknown, asset: object = { 'auth:refs': ['k'] }, more: object = {}) {
  return {
    type: 'Feature',
    id: 'x',
    stac_extensions: [EXTENSION],
    links: [],
    assets: { d: { href: 'https://data.example/f', ...asset } },
    properties: { 'auth:schemes': schemes },
    ...more,
  }
}

const signing = (parameter: object) => ({
  type: 'signedUrl',
  flows: {
    authorizationCode: { method: 'GET', authorizationApi: 'https://sign.example/', responseField: 'url', parameters: { p: parameter } },
  },
})

const secrets = (document: unknown) => lint(document).flatMap(({ code, pointer }) => (code === 'secret-in-document' ? [pointer] : []))

describe('a secret is found', () => {
  it.each([
    [
      'in a list',
      item({ k: signing({ in: 'query', required: false, schema: { enum: ['a', TOKEN] } }) }),
      ['/properties/auth:schemes/k/flows/authorizationCode/parameters/p/schema/enum/1'],
    ],
    [
      'in a list of objects',
      item({ k: { ...BASIC, 'x-notes': [{ password: 'hunter2' }] } }),
      ['/properties/auth:schemes/k/x-notes/0/password'],
    ],
    [
      'in schemes on an asset',
      item({ k: BASIC }, { 'auth:refs': ['k', 'm'], 'auth:schemes': { m: { ...BASIC, password: 'hunter2' } } }),
      ['/assets/d/auth:schemes/m/password'],
    ],
    [
      'in schemes inside of bands',
      item({ k: BASIC }, { 'auth:refs': ['k'], bands: [{ 'auth:schemes': { m: { token: 'abc' } } }] }),
      ['/assets/d/bands/0/auth:schemes/m/token'],
    ],
    ['in a misspelt map', item({ k: BASIC }, undefined, { 'auth:scheme': { m: { token: 'abc' } } }), ['/auth:scheme/m/token']],
    ['at the root of an Item', item({ k: BASIC }, undefined, { 'auth:schemes': { m: { token: 'abc' } } }), ['/auth:schemes/m/token']],
    ['in the place of a scheme', item({ k: `Bearer ${TOKEN}` }), ['/properties/auth:schemes/k']],
    ['in a list of schemes', item([{ ...BASIC, password: 'hunter2' }]), ['/properties/auth:schemes/0/password']],
  ])('%s', (_, document, pointers) => {
    expect(secrets(document)).toEqual(pointers)
  })

  it.each([
    ['words that speak of tokens', item({ k: signing({ in: 'query', required: false, schema: { enum: ['token', 'password'] } }) })],
    ['a list of scopes', item({ k: { ...BASIC, scopes: ['token'] } })],
    ['a scheme that is a word, whatever its name', item({ token: 'bearer' }, { 'auth:refs': ['token'] })],
    ['placeholders', item({ k: { ...BASIC, 'x-notes': [{ password: '<password>' }, { token: '***' }] } })],
    [
      'words in the places of a token and of a login',
      item({ k: { ...BASIC, 'x-notes': [{ token: 'Bearer token' }, { password: 'user:password' }] } }),
    ],
  ])('but not in %s', (_, document) => {
    expect(secrets(document)).toEqual([])
  })
})

describe('a URL that is signed already', () => {
  it.each([
    ['sig=abc&se=2030', 'sig'],
    ['se=2030&sig=SECRET&sv=2020', 'sig'],
    ['X-Amz-Signature=abc', 'x-amz-signature'],
    ['X-Goog-Signature=abc', 'x-goog-signature'],
    ['x-oss-signature=abc', 'x-oss-signature'],
    ['q-sign-time=1;2&q-signature=abc', 'q-signature'],
    ['AWSAccessKeyId=a&Expires=1&Signature=abc', 'signature'],
    ['Policy=p&Signature=abc&Key-Pair-Id=K', 'signature'],
    ['access_token=abc', 'access_token'],
    ['apikey=abc', 'apikey'],
    ['api_key=abc', 'api_key'],
    ['Signature=abc', undefined],
    ['signed=1&tokens=2&x-amz-expires=3', undefined],
    ['sig={sig}', undefined],
    ['sig=<sig>', undefined],
    ['api_key=YOUR_API_KEY', undefined],
    ['sig=SECRET', 'sig'],
    ['token=token', 'token'],
  ])('a URL that is signed already is told by its parameters: %s', (query, parameter) => {
    expect(secretParameter(`https://data.example/f?${query}`)).toBe(parameter)
  })
})

describe('a URL with user information', () => {
  const oauth2 = (tokenUrl: string) => item({ k: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: {} } } } })

  it.each(['user:pass', 'username:password', 'ada:hunter2', ':hunter2', 'ghp_0123456789abcdefghijklmnopqrstuvwxyz', 'x7Kq92mZp4Ww'])(
    'is a secret, whatever the words are: %s',
    (userInfo) => {
      expect(secrets(oauth2(`https://${userInfo}@id.example/token`))).toEqual([
        '/properties/auth:schemes/k/flows/clientCredentials/tokenUrl',
      ])
      expect(secrets(item({ k: BASIC }, { href: `https://${userInfo}@data.example/f`, 'auth:refs': ['k'] }))).toEqual(['/assets/d/href'])
    },
  )

  it.each([
    'abfss://container@account.dfs.core.windows.net/k.tif',
    'ftp://anonymous@ftp.example/x.nc',
    'ftp://anonymous:ada%40mail.example@ftp.example/x.nc',
    'ssh://git@host.example/x',
    'https://user@data.example/f',
    'https://data.example/x?y=a@b',
  ])('is no secret where it is a name: %s', (href) => {
    expect(secrets(item({ k: BASIC }, { href, 'auth:refs': ['k'] }))).toEqual([])
  })

  it('is none with placeholders', () => {
    expect(secrets(oauth2('https://{user}:{password}@id.example/token'))).toEqual([])
  })
})

describe('a message holds no secret', () => {
  it.each([
    ['as http scheme', item({ k: { type: 'http', scheme: TOKEN } })],
    ['after a blank', item({ k: { type: 'http', scheme: ` Bearer ${TOKEN}` } })],
    ['after a line feed', item({ k: { type: 'http', scheme: `\nBasic dXNlcjpwYXNz` } })],
    ['as type', item({ k: { type: `Bearer ${TOKEN}` } })],
    ['as a ref', item({ k: BASIC }, { 'auth:refs': [`Bearer ${TOKEN}`] })],
  ])('%s', (_, document) => {
    const messages = lint(document).map(({ message }) => message)
    expect(messages.length).toBeGreaterThan(0)
    expect(messages.join('\n')).not.toMatch(/eyJ|dXNlc/)
  })
})

describe('the lines that are shown to people hold no secret', () => {
  const shown = (text: string, options: Parameters<typeof lintText>[1], severity?: string) => {
    const problems = lintText(text, { ...options, document: 'a.json' }).filter((problem) => !severity || problem.severity === severity)
    expect(problems).not.toEqual([])
    return pretty(reportOf(problems, 1), { texts: new Map([['a.json', text]]) })
  }
  const PASSWORD = JSON.stringify(item({ k: { ...BASIC, password: 'hunter2', flows: {} } }))

  it('lines shown to people hold no secret when the rule for secrets is off, or not in the preset', () => {
    expect(shown(PASSWORD, { rules: { 'secret-in-document': 'off' } })).not.toContain('hunter2')
    expect(shown(PASSWORD, { preset: 'schema' })).not.toContain('hunter2')
    expect(shown(PASSWORD.replace('"password":', '"pass\\u0077ord" : '), { preset: 'schema' })).not.toContain('hunter2')
  })

  it('the lines that are shown to people hold no secret when only errors are shown', () => {
    const text = JSON.stringify(item({ k: BASIC }, { href: 'https://data.example/f?sig=hunter2', 'auth:refs': ['nope'] }))
    expect(shown(text, {}, 'error')).not.toContain('hunter2')
    expect(shown(text.replaceAll('/', '\\/'), {}, 'error')).not.toContain('hunter2')
  })

  it('the lines that are shown to people hold no secret when the text is a page instead of a document', () => {
    expect(shown('<input name="csrf" value="hunter2">', {})).not.toContain('hunter2')
  })

  it('the lines that are shown to people hold no secret and the other lines are there', () => {
    const text = JSON.stringify(item({ k: { ...BASIC, password: 'hunter2', flows: {} } }), null, 2)
    expect(shown(text, { preset: 'schema' })).toContain('"flows": {}')
    expect(shown(text.replace('"password": "hunter2"', '"password": "<password>"'), {})).toContain('"<password>"')
  })
})

describe('a scheme that is called "type" and has none', () => {
  const document = item({ type: { scheme: 'basic' }, scheme: { type: 'http', scheme: '' } }, { 'auth:refs': ['type', 'scheme'] })

  it('hides nothing about its neighbours', () => {
    expect(lint(document).map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      'http-scheme-invalid /properties/auth:schemes/scheme/scheme',
      'missing-type /properties/auth:schemes/type',
    ])
  })

  it('a scheme that is called "type" and has none is kept and given its type', () => {
    const { text } = fixText(JSON.stringify(document), { suggestions: true })
    expect(JSON.parse(text).properties['auth:schemes'].type).toEqual({ scheme: 'basic', type: 'http' })
  })
})

describe('text that was made to be looked at forever', () => {
  it.each(['eyJ-', 'eyJ-aaaaaaaa', 'a.eyJ', '-----BEGIN '])(
    'text that was made to be looked at forever is looked through once: %s',
    (word) => {
      const text = word.repeat(500_000)
      expect(looksSecret(text)).toBe(false)
      expect(looksSecret(`${text} ${TOKEN}`)).toBe(true)
    },
  )

  it('text that was made to be looked at forever is not shown in a line of many megabytes', () => {
    const line = (size: number) => `{"title": "${'x'.repeat(size)}"}`
    expect([hasSecretLine(line(100_000)), hasSecretLine(line(20_000_000))]).toEqual([false, true])
  })
})

describe('a text of many megabytes', () => {
  const word = 'a'.repeat(12 * 2 ** 20)

  it.each([
    ['one word', word],
    ['one word behind its name', `secret: ${word}`],
    ['names of secrets without an end', 'secret:'.repeat(2 ** 20)],
    ['parameters without an end', '?sig='.repeat(2 ** 21)],
    ['values of dots', `password: ${'.'.repeat(4000)}x `.repeat(2 ** 11)],
  ])('a text of many megabytes is looked through to its end: %s', { timeout: 60_000 }, (_, text) => {
    expect(isSecret('x-key', text)).toBe(isSecret('x-key', text.slice(0, 2 ** 16)))
    expect(isSecret('password', text)).toBe(isSecret('password', text.slice(0, 2 ** 16)))
    expect(looksSecret(`${text} Basic YWRhOm9wZW4tc2VzYW1l`)).toBe(true)
  })
})
