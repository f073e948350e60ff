import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { curl } from '../../src/outputs/curl.ts'
import { gdal } from '../../src/outputs/gdal.ts'
import { headers } from '../../src/outputs/headers.ts'
import { http } from '../../src/outputs/http.ts'
import { json } from '../../src/outputs/json.ts'
import { isRedacted, secretText } from '../../src/outputs/redact.ts'
import { url } from '../../src/outputs/url.ts'
import { hostile, SECRET, withBearer, withObject, withQueryKey } from './requests.ts'

const run = promisify(execFile)
const texts = { http, curl, url, headers, gdal }

describe.each(Object.entries(texts))('%s', (_name, output) => {
  it.each([withBearer, withQueryKey, withObject, hostile])('hides the secret unless asked to show it', (request) => {
    expect(output(request)).not.toContain(SECRET)
  })

  it('prints hostile names, values and URLs without control characters or forged lines', () => {
    const text = output(hostile, { reveal: true })
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u)
    expect(text).not.toMatch(/^x-injected/m)
  })
})

describe('http', () => {
  it('http is a request line, the host, the headers and an empty line', () => {
    const lines = ['GET /B04.tif?x=1 HTTP/1.1', 'host: data.example', 'accept: */*', 'authorization: [secret]', '', '']
    expect(http(withBearer).split('\n')).toEqual(lines)
    expect(http(withBearer, { reveal: true })).toContain(`authorization: Bearer ${SECRET}`)
  })

  it('names the host once and keeps the body', () => {
    const request = { ...withBearer, method: 'POST', headers: { host: 'data.example' }, body: new TextEncoder().encode('a=ü') }
    expect(http(request)).toBe('POST /B04.tif?x=1 HTTP/1.1\nhost: data.example\n\na=ü')
  })
})

describe('url', () => {
  it('hides the query only of a URL that carries material', () => {
    expect(url(withBearer)).toBe('https://data.example/B04.tif?x=1')
    expect(url(withQueryKey)).toBe('https://data.example/f?sig=…&key=…')
    expect(url(withQueryKey, { reveal: true })).toBe(withQueryKey.url)
  })
})

describe('headers', () => {
  it('headers is one line per header, whatever the case in which a secret one was named', () => {
    const request = { ...withBearer, secretIn: { headers: ['Authorization'], url: false } }
    expect(headers(request)).toBe('accept: */*\nauthorization: [secret]')
    expect(headers(withQueryKey)).toBe('')
  })
})

describe('curl', () => {
  it('curl is a command that passes every argument on as it is', async () => {
    const request = { ...hostile, method: 'POST', headers: { ...hostile.headers, 'x-empty': '' }, body: "it's\n{}" }
    const command = curl(request, { reveal: true }).replace(/^curl/, 'printf "%s\\037"')
    const { stdout } = await run('/bin/sh', ['-c', command])
    expect(stdout.split('\x1f')).toEqual([
      '--globoff',
      '--request',
      'POST',
      '--header',
      "x-\\u{1b}[2J': a'b\\u{d}\\u{a}x-injected: 1",
      '--header',
      `authorization: ${SECRET}`,
      '--header',
      'x-empty;',
      '--data-raw',
      "it's\n{}",
      "https://data.example/'$(id)'\\u{202e}",
      '',
    ])
  })

  it('requests the headers alone with --head', () => {
    expect(curl({ ...withQueryKey, method: 'HEAD' }, { reveal: true })).toBe(`curl --globoff \\\n  --head \\\n  '${withQueryKey.url}'`)
  })
})

describe('json', () => {
  it('json has the members in their order, whole', () => {
    expect(Object.entries(JSON.parse(json(withBearer)))).toEqual([
      ['method', 'GET'],
      ['url', 'https://data.example/B04.tif?x=1'],
      ['headers', { accept: '*/*', authorization: `Bearer ${SECRET}` }],
      ['ref', 'oidc'],
      ['scheme', 'openIdConnect'],
      ['credential', 'cdse'],
      ['expiresAt', '2026-11-20T10:00:00Z'],
      ['pointer', '/assets/B04'],
    ])
  })

  it('omits what is unknown and escapes what would act on a terminal', () => {
    expect(Object.keys(JSON.parse(json(hostile)))).toEqual(['method', 'url', 'headers'])
    expect(json(hostile)).not.toMatch(/\p{Bidi_Control}|\u001b/u)
  })
})

it('an output whose only secrets are keys is not usable while they are hidden', () => {
  const withKeys = { ...withObject, secretIn: { url: false, headers: [] }, keys: { accessKeyId: 'AK', secretAccessKey: SECRET } }
  expect([isRedacted(withKeys), isRedacted(withKeys, { reveal: true }), isRedacted({ ...withKeys, keys: undefined })]).toEqual([
    true,
    false,
    false,
  ])
})

it('a secret that is empty is shown so', () => {
  expect([secretText(''), secretText(SECRET), secretText(SECRET, { reveal: true })]).toEqual(['', '[secret]', SECRET])
})
