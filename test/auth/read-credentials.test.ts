import { describe, expect, it } from 'vitest'
import { type CredentialSource, Secret } from '../../src/auth/credential.ts'
import { type Origin, readCredentials } from '../../src/auth/parse-credentials.ts'
import { loadStrategies } from '../../src/auth/strategy.ts'
import { defaultStrategies } from '../../src/strategies/index.ts'
import { canary, leaks, shown } from '../harness/canary.ts'
import { thrownBy } from '../harness/failure.ts'
import { DATA, entries, SIGN_URL, TOKEN_URL } from '../harness/victim.ts'

const strategies = await loadStrategies(defaultStrategies)
const read = (given: unknown, from?: Origin) => readCredentials(given as CredentialSource, strategies, from)

const source = { env: 'SECRET' }
const key = { id: 'k', type: 'apiKey', in: 'header', name: 'x-k', value: source, sendTo: [DATA] }
const oauth = { ...entries.oauth, clientSecret: source, sendTo: [DATA, SIGN_URL] }
const signer = { ...entries.signer, signedUrlHosts: [DATA], with: 'oauth' }
const basic = { id: 'b', type: 'http', scheme: 'basic', username: 'ada', password: source, sendTo: [DATA] }

type Row = readonly [name: string, entry: object, pointer: string]

const members: readonly Row[] = [
  ['an unknown field', { ...key, headers: {} }, '/headers'],
  ['an unknown field with a slash', { ...key, 'a/b': 1 }, '/a~1b'],
  ['an own __proto__', JSON.parse(JSON.stringify(key).replace('{', '{"__proto__":{},')), '/__proto__'],
  ['a field of the prototype', { ...key, constructor: 1 }, '/constructor'],
  ['a field of another type', { ...key, tokenUrl: TOKEN_URL }, '/tokenUrl'],
  ['a field of another form', { ...basic, token: source }, '/token'],
  ['a missing field', { ...key, name: undefined }, '/name'],
  ['a missing secret', { ...key, value: undefined }, '/value'],
  ['an unknown type', { ...key, type: 'apikey' }, '/type'],
  ['no type', { ...key, type: undefined }, '/type'],
  ['a type that is no text', { ...key, type: 5 }, '/type'],
  ['a place that is none', { ...key, in: 'body' }, '/in'],
  ['a name that is no text', { ...key, name: ['x'] }, '/name'],
  ['an id that is no text', { ...key, id: 5 }, '/id'],
  ['an id with a blank', { ...key, id: 'a b' }, '/id'],
  ['an id that is too long', { ...key, id: 'a'.repeat(65) }, '/id'],
  ['an empty id', { ...key, id: '' }, '/id'],
  ['a provider that is no text', { ...key, provider: 5 }, '/provider'],
  ['a provider with a capital letter', { ...key, provider: 'Copernicus' }, '/provider'],
  ['an empty provider', { ...key, provider: '' }, '/provider'],
  ['a provider that is too long', { ...key, provider: 'a'.repeat(65) }, '/provider'],
  ['no sendTo', { ...key, sendTo: undefined }, '/sendTo'],
  ['a sendTo that is no list', { ...key, sendTo: { a: 1 } }, '/sendTo'],
  ['a pattern that is no text', { ...key, sendTo: [DATA, 5] }, '/sendTo/1'],
  ['a pattern without encryption', { ...key, sendTo: ['http://data.example/'] }, '/sendTo/0'],
  ['a pattern for everything', { ...key, sendTo: [DATA, '*'] }, '/sendTo/1'],
  ['a wildcard on shared storage', { ...key, sendTo: ['https://*.s3.amazonaws.com/'] }, '/sendTo/0'],
  ['an endpoint without encryption', { ...oauth, tokenUrl: 'http://auth.example/token' }, '/tokenUrl'],
  ['an endpoint that is a file', { ...oauth, tokenUrl: 'file:///token' }, '/tokenUrl'],
  ['an endpoint that is relative', { ...oauth, tokenUrl: '/token' }, '/tokenUrl'],
  ['an endpoint with user info', { ...oauth, tokenUrl: 'https://u:p@auth.example/' }, '/tokenUrl'],
  ['scopes that are a text', { ...oauth, scopes: 'read' }, '/scopes'],
  ['a scope that is no text', { ...oauth, scopes: ['read', 5] }, '/scopes'],
  ['a client authentication that is none', { ...oauth, clientAuthentication: 'maybe' }, '/clientAuthentication'],
  ['no client secret', { ...oauth, clientSecret: undefined }, '/clientSecret'],
  ['a placement in a header', { ...oauth, placement: { in: 'header', name: 'x' } }, '/placement'],
  ['a signing method that is none', { ...signer, with: undefined, method: 'PUT' }, '/method'],
  ['parameters that are a list', { ...signer, with: undefined, parameters: [] }, '/parameters'],
  ['no place for signed addresses', { ...signer, with: undefined, signedUrlHosts: undefined }, '/signedUrlHosts'],
  ['a source of two kinds', { ...key, value: { env: 'A', file: 'b' } }, '/value'],
  ['a source of no kind', { ...key, value: {} }, '/value'],
  ['a source of an unknown kind', { ...key, value: { vault: 'x' } }, '/value'],
  ['a source without a name', { ...key, value: { env: '' } }, '/value'],
  ['a command that is a text', { ...key, value: { command: 'pass show x' } }, '/value'],
  ['a command without a program', { ...key, value: { command: [] } }, '/value'],
  ['a secret that is a number', { ...key, value: 5 }, '/value'],
  ['a secret that is null', { ...key, value: null }, '/value'],
  ['a scheme that is no word', { id: 't', type: 'http', scheme: 'x y', credentials: source, sendTo: [DATA] }, '/scheme'],
]

describe('a credential', () => {
  it.each(members)('a credential with %s is CONFIG_INVALID at it', (_name, entry, pointer) => {
    for (const from of ['code', 'file'] as const) {
      expect(
        thrownBy(() => read([key, { ...entry, id: 'id' in entry && entry.id === 'k' ? 'k2' : (entry as { id?: unknown }).id }], from)),
      ).toMatchObject({
        name: 'ConfigurationError',
        code: 'CONFIG_INVALID',
        pointer: `/credentials/1${pointer}`,
      })
    }
  })

  it.each([
    [
      { type: 'oauth2', flow: 'client_credentials', clientId: 'c', sendTo: [DATA] },
      'credentials[0] of type oauth2',
      'flow "clientCredentials"',
    ],
    [
      { id: 'o', type: 'oauth2', flow: 'authorizationcode', clientId: 'c', sendTo: [DATA] },
      '"o" of type oauth2',
      'flow "authorizationCode"',
    ],
    [
      { id: 't', type: 'http', scheme: 'Bearer', token: source, sendTo: [DATA] },
      'token of credentials[0] is not a field',
      'scheme "bearer"',
    ],
    [
      { id: 't', type: 'http', scheme: 'baerer', token: source, sendTo: [DATA] },
      'token of credentials[0] is not a field',
      'scheme "bearer"',
    ],
  ])('a misspelt value that selects the fields is named: %j', (credential, message, meant) => {
    expect(thrownBy(() => read([credential]))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(`did you mean ${meant}?`),
    })
  })

  it.each([
    ['token', { token: undefined }, 'code', 'token of credentials[1] is missing (Access token)'],
    [
      'token',
      { token: Promise.resolve('t') },
      'code',
      'token of credentials[1] must be text, a function or an object with one of the keys',
    ],
    ['token', { token: 5 }, 'code', 'token of credentials[1] must be text, a function or an object with one of the keys'],
    ['token', { token: 5 }, 'file', 'token of credentials[1] must be an object with one of the keys'],
    ['sendTo/0', { sendTo: [undefined] }, 'code', 'sendTo/0 of credentials[1] must be a URL pattern'],
    ['id', { id: key.id }, 'code', `id of credentials[1] is used twice: "${key.id}"`],
  ] as const)('the message names the credential with a malformed %s: %j in %s', (field, change, from, message) => {
    const second = { id: 't', type: 'http', scheme: 'bearer', token: source, sendTo: [DATA], ...change }
    expect(thrownBy(() => read([key, second], from))).toMatchObject({
      pointer: `/credentials/1/${field}`,
      message: expect.stringContaining(message),
    })
  })

  it('a secret that is undefined in code is said to come from a variable that is not set, one that is not written is not', () => {
    const bearer = { type: 'http', scheme: 'bearer', sendTo: [DATA] }
    expect(thrownBy(() => read([{ ...bearer, token: undefined }], 'code'))).toMatchObject({
      hint: expect.stringContaining('set that variable'),
    })
    expect(thrownBy(() => read([bearer], 'code'))).not.toHaveProperty('hint')
  })

  it.each([null, 5, 'text', []])('a credential that is %j is CONFIG_INVALID', (entry) => {
    expect(thrownBy(() => read({ credentials: [entry] }))).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0' })
  })

  it.each([
    ['value', key],
    ['password', basic],
    ['clientSecret', oauth],
    ['credentials', { id: 't', type: 'http', scheme: 'gnap', sendTo: [DATA] }],
    ['token', { id: 't', type: 'http', scheme: 'bearer', sendTo: [DATA] }],
  ])('a credential in a file may not hold the secret itself: %s', (field, credential) => {
    const secret = canary('plain')
    const error = thrownBy(() => read([{ ...credential, [field]: secret.value }], 'file'))
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer: `/credentials/0/${field}`, hint: expect.stringContaining('"env"') })
    expect(leaks([secret], { error: shown(error) })).toEqual([])
    const [entryInCode] = read([{ ...credential, [field]: secret.value }])
    expect(entryInCode?.[field]).toBeInstanceOf(Secret)
    expect(leaks([secret], { entry: shown(entryInCode) })).toEqual([])
  })

  it('a credential may be given without id in code, not in a file', () => {
    const { id: _id, ...nameless } = key
    expect(read([nameless, nameless]).map(({ id }) => id)).toEqual(['apiKey-1', 'apiKey-2'])
    expect(thrownBy(() => read([nameless], 'file'))).toMatchObject({ pointer: '/credentials/0/id' })
  })

  it('a credential comes with its patterns parsed and its endpoints in their usual form', () => {
    const [credential] = read({ ...oauth, tokenUrl: 'HTTPS://AUTH.victim.example:443/token#x', sendTo: 'https://DATA.victim.example' })
    expect(credential).toMatchObject({
      tokenUrl: TOKEN_URL,
      sendTo: [{ scheme: 'https', host: 'data.victim.example', path: '/', wildcard: false }],
    })
  })

  it('a credential of ready-made text is not mistaken for a set of credentials', () => {
    expect(read({ type: 'http', scheme: 'gnap', credentials: 'x', sendTo: DATA })).toHaveLength(1)
  })

  it('a credential for signing may do without sendTo: signed URLs are what it may sign', () => {
    expect(read({ ...signer, with: undefined })[0]?.sendTo).toMatchObject([{ pattern: DATA }])
    expect(read({ ...key, sendTo: [] })[0]?.sendTo).toEqual([])
  })
})

describe('several credentials', () => {
  it.each<[string, unknown, string]>([
    ['two with one id', [key, { ...basic, id: 'k' }], '/credentials/1/id'],
    ['a preference for nobody', { credentials: [key], preferred: ['k', 'gone'] }, '/preferred/1'],
    ['a preference that is no list', { credentials: [key], preferred: 'k' }, '/preferred'],
    ['entries that are no list', { credentials: 5 }, '/credentials'],
    ['"with" that names nobody', [oauth, { ...signer, with: 'gone' }], '/credentials/1/with'],
    ['"with" that names its own entry', [{ ...signer, with: 'signer' }], '/credentials/0/with'],
    ['"with" that is no text', [oauth, { ...signer, with: 5 }], '/credentials/1/with'],
    ['"with" whose entry may not go there', [{ ...oauth, sendTo: [DATA] }, signer], '/credentials/1/with'],
    [
      'two that sign for each other',
      [
        { ...signer, with: 'two', sendTo: SIGN_URL },
        { ...signer, id: 'two', with: 'signer', sendTo: SIGN_URL },
      ],
      '/credentials/0/with',
    ],
  ])('several credentials are CONFIG_INVALID with %s', (_name, credentials, pointer) => {
    expect(thrownBy(() => read(credentials))).toMatchObject({ code: 'CONFIG_INVALID', pointer })
  })

  it.each([null, 5, 'text'])('several credentials cannot be %j', (credentials) => {
    expect(thrownBy(() => read(credentials))).toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('several credentials come from lists of lists and sets, in order, with the ranks of the preferred', () => {
    const credentials = read([key, { credentials: [basic, oauth], preferred: ['oauth'] }, [{ ...key, id: 'last' }]])
    expect(credentials.map(({ id, preference }) => [id, preference])).toEqual([
      ['k', Number.POSITIVE_INFINITY],
      ['b', Number.POSITIVE_INFINITY],
      ['oauth', 0],
      ['last', Number.POSITIVE_INFINITY],
    ])
  })

  it('the list of credentials may be empty', () => {
    expect(read([])).toEqual([])
    expect(read({ credentials: [] }, 'file')).toEqual([])
  })
})
