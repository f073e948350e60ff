import { expect, it } from 'vitest'
import { parseUrlPattern } from '../../src/auth/url-pattern.ts'
import type { AuthError } from '../../src/errors.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { victim } from '../harness/victim.ts'

const S3 = 'https://s3.eu-central-1.amazonaws.com'

it.each([
  ['https://data.example/', 'https://b.example/x/f', 'on https://b.example', 'host: stac-auth credentials trust key https://b.example/;'],
  ['https://data.example/', 'https://data.example:8443/f', 'on https://data.example:8443', 'trust key https://data.example:8443/;'],
  [
    'https://data.example/a/',
    'https://data.example/b/c/f',
    'below https://data.example/b/',
    'folder: stac-auth credentials trust key https://data.example/b/;',
  ],
  [`${S3}/eo/`, `${S3}/other/k`, `below ${S3}/other/`, `folder: stac-auth credentials trust key ${S3}/other/;`],
  ['https://data.example/', `${S3}/other/k`, `below ${S3}/other/`, `folder: stac-auth credentials trust key ${S3}/other/;`],
])('a credential for %s is not sent to %s, and the command that would allow it is reported', async (sendTo, href, where, hint) => {
  const key = { id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value: 'v', sendTo }
  const { auth, script } = victim({ credentials: unchecked(key) })
  const error = (await failureOf(auth.authorize(target(scheme.key('x-api-key'), href)))) as AuthError
  expect(error).toMatchObject({
    code: 'CREDENTIAL_TARGET_UNTRUSTED',
    message: `"key" may be sent to ${sendTo}; this asset is ${where}. Nothing was sent`,
    hint: expect.stringContaining(hint),
    actual: new URL(href).origin,
    expected: sendTo,
  })
  const pattern = /trust key (\S+);/.exec(String(error.hint))?.[1] ?? ''
  expect(parseUrlPattern(pattern).pattern).toBe(pattern)
  const widened = victim({ credentials: unchecked({ ...key, sendTo: [sendTo, pattern] }) })
  expect((await widened.auth.authorize(target(scheme.key('x-api-key'), href))).headers['x-api-key']).toBe('v')
  expect(script.sent).toEqual([])
})

it.each([S3, 'https://data.example'])(
  'nothing is offered that a pattern with a path cannot cover, and not all of %s instead',
  async (host) => {
    const key = { id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value: 'v', sendTo: `${host}/eo/` }
    const error = (await failureOf(
      victim({ credentials: unchecked(key) }).auth.authorize(target(scheme.key('x-api-key'), `${host}/eo/..%2fother`)),
    )) as AuthError
    expect(error).toMatchObject({
      code: 'CREDENTIAL_TARGET_UNTRUSTED',
      message: `"key" may be sent to ${host}/eo/; this asset has "%2F" in its path, which servers may read as another path. Nothing was sent`,
      hint: expect.stringMatching(/^a pattern with a folder matches only paths of printable UTF-8 without /),
    })
    expect(error.hint).not.toContain(host)
  },
)

it('an escape outside of the folder is not the reason that is told', async () => {
  const key = { id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value: 'v', sendTo: 'https://data.example/eo/' }
  const { auth } = victim({ credentials: unchecked(key) })
  const error = (await failureOf(auth.authorize(target(scheme.key('x-api-key'), 'https://data.example/x%2feo/')))) as AuthError
  expect(error).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED', message: expect.stringContaining('is on https://data.example.') })
  expect(error.hint).toBeUndefined()
})

it.each(['/;touch$IFS$9x;/a.tif', '/$(id)/a.tif', "/'/a.tif", '/&id&/a.tif'])(
  'no command is offered that a shell would read otherwise: %s',
  async (path) => {
    const key = { id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value: 'v', sendTo: 'https://data.example/' }
    const { auth } = victim({ credentials: unchecked(key) })
    const error = (await failureOf(auth.authorize(target(scheme.key('x-api-key'), S3 + path)))) as AuthError
    expect(error.code).toBe('CREDENTIAL_TARGET_UNTRUSTED')
    expect(error.hint).toBeUndefined()
  },
)

it('the error about a mismatch says whom to ask', async () => {
  const tokenUrl = 'https://id.example/token'
  const entry = {
    id: 'oauth',
    type: 'oauth2',
    flow: 'clientCredentials',
    tokenUrl,
    clientId: 'me',
    clientSecret: 's',
    sendTo: 'https://data.example/',
  }
  const { auth } = victim({ credentials: unchecked(entry) })
  const hintFor = async (flows: object) => {
    const { refs } = await auth.explain(target({ type: 'oauth2', flows }, 'https://data.example/f'))
    return [refs[0]?.code, refs[0]?.hint]
  }
  expect(await hintFor({ clientCredentials: { tokenUrl: 'https://evil.example/token', scopes: {} } })).toEqual([
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    expect.stringMatching(/^if the provider documents that URL, write it into "oauth": URLs from catalogs are never adopted$/),
  ])
  expect(await hintFor({ password: { tokenUrl, scopes: {} } })).toEqual([
    'SCHEME_MISMATCH',
    expect.stringMatching(/^if the provider requires that, add a credential for it beside "oauth"/),
  ])
})

it('an error shows no members that say nothing', async () => {
  const { auth } = victim({ credentials: [] })
  const error = await failureOf(auth.fetch(target(scheme.key(), 'https://data.example/f')))
  expect(Object.keys(error).sort()).toEqual(['code', 'hint', 'name', 'pointer', 'ref', 'retryable'])
})
