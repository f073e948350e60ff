import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { Secret } from '../../../src/auth/credential.ts'
import type { HttpRequest } from '../../../src/http/message.ts'
import { ServiceLimits } from '../../../src/services/client/pacer.ts'
import { operations } from '../../../src/services/translation/operations.ts'
import { TranslationClient } from '../../../src/services/translation/translation-client.ts'
import { PACKAGE_VERSION, type TranslationClientOptions } from '../../../src/services/translation/translation-service.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { operations as known } from '../../servers/translation/operations.ts'
import { transport } from '../client/service.ts'
import { fakeClient } from './fake-client.ts'

const PRO = 'https://api.deepl.com'
const FREE = 'https://api-free.deepl.com'

/** A transport that sends nothing and keeps what it was given. */
function recording() {
  const sent: HttpRequest[] = []
  const answer = { status: 200, headers: { get: () => null }, toResponse: () => new Response() }
  const send = async (request: HttpRequest) => {
    sent.push(request)
    const text = '{"translations":[{"text":"a"}]}'
    return { ...answer, url: request.url, text: async () => text, bytes: async () => Buffer.from(text), discard: async () => {} }
  }
  return { sent, transport: send, limits: new ServiceLimits() }
}

it('knows the operations of the service as the strict server does', () => {
  const ours = Object.values(operations).map(({ number, method, path, replay, right }) => ({ op: number, method, path, replay, right }))
  expect(ours).toEqual(known.map(({ op, method, path, replay, right }) => ({ op, method, path, replay, right })))
  const forms = Object.values(operations).flatMap(({ number, form }) => (form ? [number] : []))
  expect(forms).toEqual(known.filter(({ body }) => body === 'json or form').map(({ op }) => op))
})

it('names the version of the package', () => {
  expect(PACKAGE_VERSION).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version)
})

it.each<readonly [string, TranslationClientOptions, string]>([
  ['a key of a paid plan', { apiKey: 'k' }, PRO],
  ['a key of the free plan', { apiKey: 'k:fx' }, FREE],
  ['a plan', { apiKey: 'k', plan: 'free' }, FREE],
  ['a base address', { apiKey: 'k:fx', plan: 'pro', baseUrl: 'https://own.example' }, 'https://own.example'],
  ['a function and a plan', { apiKey: () => 'k:fx', plan: 'pro' }, PRO],
  ['a secret and a plan', { apiKey: new Secret('k'), plan: 'free' }, FREE],
])('chooses the host by %s', (_name, options, origin) => {
  expect(new TranslationClient(options).origin).toBe(origin)
})

it.each(['k', 'k:fx'])('asks a function for the key %s before it chooses the host, once and for all', async (key) => {
  const { sent, ...options } = recording()
  const keys = [key, key, 'other', 'other:fx']
  let asked = 0
  const client = new TranslationClient({ ...options, apiKey: async () => keys[asked++] ?? '' })
  expect(client.origin).toBeUndefined()
  const params = { text: 'a', target_lang: 'DE' }
  await client.translateText(params)
  await client.translateText(params)
  await client.translateText(params)
  const origin = key === 'k' ? PRO : FREE
  expect(client.origin).toBe(origin)
  expect(sent.map(({ url }) => url)).toEqual(Array(3).fill(`${origin}/v2/translate`))
  expect(sent.map(({ headers }) => headers.authorization)).toEqual([key, 'other', 'other:fx'].map((k) => `DeepL-Auth-Key ${k}`))
})

it('asks a function again that failed, and one at a time', async () => {
  const { sent, ...options } = recording()
  let asked = 0
  const apiKey = async () => {
    if (asked++ === 0) throw new Error('the vault says s3cr3t')
    await new Promise((resolve) => setImmediate(resolve))
    return 'k'
  }
  const client = new TranslationClient({ ...options, apiKey, baseUrl: PRO })
  const failed = await failureOf(client.usage())
  expect(failed).toMatchObject({ code: 'CREDENTIAL_SOURCE' })
  expect(JSON.stringify(failed)).not.toContain('s3cr3t')
  await Promise.all(['a', 'b', 'c'].map((text) => client.translateText({ text, target_lang: 'DE' })))
  expect(asked).toBe(2)
  expect(sent).toHaveLength(3)
})

it('a client without a key says that a variable may be missing', () => {
  const hint = 'if apiKey is read from a variable, set that variable'
  expect(() => new TranslationClient({ apiKey: process.env.STAC_AUTH_NO_SUCH_KEY })).toThrow(expect.objectContaining({ hint }))
})

it.each<readonly [string, TranslationClientOptions, string]>([
  ['no key', {}, 'CONFIG_INVALID'],
  ['both a key and an engine', { apiKey: 'k', auth: unchecked({ type: 'http' }) }, 'CONFIG_INVALID'],
  ['an engine without a host', { auth: { type: 'http', scheme: 'bearer', token: 't' } }, 'CONFIG_INVALID'],
  ['a secret without a host', { apiKey: new Secret('k') }, 'CONFIG_INVALID'],
  ['an empty key', { apiKey: '' }, 'CREDENTIAL_VALUE_INVALID'],
  ['a key with a line break', { apiKey: 's3cr3t\n' }, 'CREDENTIAL_VALUE_INVALID'],
  ['a key with a blank before it', { apiKey: ' s3cr3t' }, 'CREDENTIAL_VALUE_INVALID'],
  ['a key with NUL', { apiKey: 's3\0cr3t' }, 'CREDENTIAL_VALUE_INVALID'],
  ['http:', { apiKey: 's3cr3t', baseUrl: 'http://api.example' }, 'URL_INSECURE'],
  ['http: elsewhere than here', { apiKey: 's3cr3t', baseUrl: 'http://api.example', allowInsecure: 'loopback' }, 'URL_INSECURE'],
  ['an app with a line break', { apiKey: 's3cr3t', appInfo: { name: 'a\nb' } }, 'CONFIG_INVALID'],
  ['a plan that does not exist', { apiKey: 's3cr3t', plan: 'gold' as never }, 'CONFIG_INVALID'],
  ['a key that is a number', { apiKey: 5 as never }, 'CREDENTIAL_VALUE_INVALID'],
  ['the name of a header alone', { apiKey: 's3cr3t', authHeader: 'x-api-key' as never }, 'CONFIG_INVALID'],
  ['no header', { apiKey: 's3cr3t', authHeader: null as never }, 'CONFIG_INVALID'],
  [
    'a header without a name, with a credential',
    { auth: unchecked({ type: 'http' }), plan: 'pro', authHeader: {} as never },
    'CONFIG_INVALID',
  ],
  ['a plan that is a key', { apiKey: 's3cr3t', plan: 's3cr3t' as never }, 'CONFIG_INVALID'],
  ['a tag with a blank', { apiKey: 's3cr3t', reportingTag: 'a b' }, 'REQUEST_INVALID'],
])('refuses %s, and does not show the key', (_name, options, code) => {
  let thrown: unknown
  try {
    new TranslationClient(options)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject({ code })
  expect(`${JSON.stringify(thrown)}${thrown}`).not.toContain('s3cr3t')
})

it('refuses a key of a function that cannot be sent, and sends nothing', async () => {
  for (const key of ['', ' k', 'k\r\nx: y', 7 as never]) {
    const { sent, ...options } = recording()
    for (const more of [{}, { baseUrl: PRO }]) {
      const client = new TranslationClient({ ...options, ...more, apiKey: () => key })
      expect(await failureOf(client.usage())).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', attempts: 0 })
    }
    expect(sent).toEqual([])
  }
})

it('warns once when a key is sent to the host of the other plan', async () => {
  const warnings: object[] = []
  const { sent: _sent, ...options } = recording()
  const client = new TranslationClient({ ...options, apiKey: 'k:fx', plan: 'pro', hooks: { warning: (warning) => warnings.push(warning) } })
  await client.translateText({ text: 'a', target_lang: 'DE' })
  await client.translateText({ text: 'a', target_lang: 'DE' })
  expect(warnings).toMatchObject([{ code: 'PLAN_HOST_MISMATCH' }])
})

it('sends the key as the service requires it, and reports who asks', async () => {
  const { client, fake } = await fakeClient({ appInfo: { name: 'demo', version: '1.2' } })
  await client.usage()
  expect(fake.log[0]?.headers).toMatchObject({
    authorization: 'DeepL-Auth-Key test-pro',
    'user-agent': `stac-auth/${PACKAGE_VERSION} demo/1.2`,
    accept: 'application/json',
  })
  const { sent, ...options } = recording()
  const own = new TranslationClient({ ...options, apiKey: new Secret('k'), baseUrl: PRO, authHeader: { name: 'X-Own-Key' } })
  await own.translateText({ text: 'a', target_lang: 'DE' })
  expect(sent[0]?.headers).toMatchObject({ 'x-own-key': 'k' })
  expect(sent[0]?.headers).not.toHaveProperty('authorization')
  const refused = own.usage({ headers: { 'x-own-key': 'other' } })
  expect(await failureOf(refused)).toMatchObject({ name: 'ValidationError' })
})

it('takes an entry or an engine in the place of a key', async () => {
  const entry = { type: 'apiKey', in: 'header', name: 'Authorization', value: 'DeepL-Auth-Key test-pro' } as const
  const { client, fake } = await fakeClient({ auth: entry })
  expect(await client.usage()).toMatchObject({ character_count: 0 })
  const auth = createAuth({ credentials: [{ ...entry, sendTo: `${fake.url}/` }], transport })
  const common = { baseUrl: fake.url, allowInsecure: 'loopback', transport, limits: new ServiceLimits() } as const
  expect(await new TranslationClient({ ...common, auth }).usage()).toMatchObject({ character_count: 0 })
  const elsewhere = createAuth({ credentials: [{ ...entry, sendTo: 'https://other.example/' }], transport })
  expect(await failureOf(new TranslationClient({ ...common, auth: elsewhere }).usage())).toMatchObject({ name: 'TrustError' })
  expect(fake.requests()).toBe(2)
})

it('reports what a wrong key and a missing scope mean', async () => {
  const keys = { 'test-scoped': { plan: 'pro', role: 'developer', scopes: ['usage:read'] } } as const
  const { client } = await fakeClient({ fake: { keys }, apiKey: 'test-scoped' })
  expect(await client.usage()).toMatchObject({ character_count: 0 })
  const missing = await failureOf(client.translateText({ text: 'a', target_lang: 'DE' }))
  expect(missing).toMatchObject({ name: 'PermissionError', missingScopes: ['translate:text'], hint: expect.stringContaining('scopes') })
  const wrong = client.withCredential('test-wrong')
  expect(await failureOf(wrong.usage())).toMatchObject({ status: expect.toSatisfy((status) => status === 401 || status === 403) })
})

it('an auth that is neither a credential nor an engine is named', async () => {
  const { client } = await fakeClient({ auth: {} as never })
  expect(await failureOf(client.usage())).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('type of') })
})
