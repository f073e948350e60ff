import { describe, expect, it } from 'vitest'
import { bearer, type CredentialInput } from '../../src/auth/credential.ts'
import { httpsForm } from '../../src/http/url.ts'
import { lint } from '../../src/lint/index.ts'
import { alternateOf, assetOf } from '../../src/stac/target.ts'
import { asset, found, item, type Json, scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { redirectTo, routes } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { secrets, victim } from '../harness/victim.ts'

const GOOGLE = 'https://storage.googleapis.com/'
const token = (sendTo: string, more: Json = {}): CredentialInput => ({ ...bearer(secrets.bearer.value, sendTo), id: 'token', ...more })
const authorized = (href: string, credentials: CredentialInput) => victim({ credentials }).auth.authorize(target(scheme.bearer, href))

describe('a gs: URL', () => {
  it.each([
    ['gs://eo-data/a/b%20c.tif', 'gs://eo-data/', 'eo-data/a/b%20c.tif'],
    ['GS://eo-data/a//b+c.tif', 'gs://eo-data', 'eo-data/a//b+c.tif'],
    ['gs://eo-data/a/b.tif', `${GOOGLE}eo-data/a/`, 'eo-data/a/b.tif'],
    [`${GOOGLE}eo-data/a/b.tif`, 'gs://eo-data/a/', 'eo-data/a/b.tif'],
    ['gs://eo-data', 'gs://eo-data/', 'eo-data/'],
  ])('%s with %s stands for its https URL', async (href, sendTo, path) => {
    expect(await authorized(href, token(sendTo))).toMatchObject({
      url: GOOGLE + path,
      headers: { authorization: `Bearer ${secrets.bearer.value}` },
    })
  })

  it('a gs: URL is signed with the keys of an s3 credential for that service', async () => {
    const store = { id: 'hmac', type: 's3', accessKeyId: 'GOOG1EXAMPLE', secretAccessKey: 's', region: 'auto', endpoint: GOOGLE }
    const { auth } = victim({ credentials: unchecked({ ...store, sendTo: 's3://eo-data/' }) })
    const request = await auth.authorize(target({ type: 's3' }, 'gs://eo-data/a.tif'))
    expect([request.url, request.headers.authorization]).toEqual([
      `${GOOGLE}eo-data/a.tif`,
      expect.stringContaining('Credential=GOOG1EXAMPLE/'),
    ])
  })

  it('a gs: URL is requested as that where no credential is needed, and may be typed', async () => {
    const { auth, script } = victim({ credentials: token('gs://eo-data/') })
    await auth.fetch(assetOf(item(undefined, { data: { href: 'gs://eo-data/open.tif' } }), 'data'))
    await auth.fetch('gs://eo-data/typed.tif')
    expect(script.sent.map(({ url, headers }) => [url, 'authorization' in headers])).toEqual([
      [`${GOOGLE}eo-data/open.tif`, false],
      [`${GOOGLE}eo-data/typed.tif`, true],
    ])
  })

  it.each([
    ['another bucket', 'gs://eo-data-evil/f.tif', 'CREDENTIAL_TARGET_UNTRUSTED'],
    ['another folder', 'gs://eo-data/b/f.tif', 'CREDENTIAL_TARGET_UNTRUSTED'],
    ['dots', 'gs://eo-data/a/../../other/f.tif', 'URL_INVALID'],
    ['encoded dots', 'gs://eo-data/a/%2e%2E/f.tif', 'URL_INVALID'],
    ['an encoded slash', 'gs://eo-data/a/..%2ff.tif', 'CREDENTIAL_TARGET_UNTRUSTED'],
    ['user info', 'gs://eo-data@evil.example/a/f.tif', 'URL_INVALID'],
    ['a port', 'gs://eo-data:8443/a/f.tif', 'URL_INVALID'],
    ['a bucket of capitals', 'gs://EO-data/a/f.tif', 'URL_INVALID'],
    ['a bucket of dots', 'gs://../eo-data/a/f.tif', 'URL_INVALID'],
    ['no bucket', 'gs:///eo-data/a/f.tif', 'URL_INVALID'],
    ['one slash', 'gs:/eo-data/a/f.tif', 'URL_INVALID'],
    ['a backslash', 'gs://eo-data/a\\..\\f.tif', 'URL_INVALID'],
    ['a line break', 'gs://eo-data/a/\nf.tif', 'URL_INVALID'],
    ['a query', 'gs://eo-data/a/f.tif?acl', 'URL_INVALID'],
    ['a generation', 'gs://eo-data/a/f.tif#12', 'URL_INVALID'],
  ])('a gs: URL with %s is refused', async (_name, href, code) => {
    expect(await failureOf(authorized(href, token('gs://eo-data/a/')))).toMatchObject({ code })
  })

  it('grants no other bucket by a redirect, and is no place for one', async () => {
    const away = (location: string) => {
      const script = routes({ [`${GOOGLE}eo-data/a`]: redirectTo(location) })
      const { auth } = victim({ credentials: token('gs://eo-data/') }, script)
      return { script, result: auth.fetch(target(scheme.bearer, 'gs://eo-data/a')) }
    }
    const other = away(`${GOOGLE}evil/a`)
    await other.result
    expect(other.script.sent.map(({ headers }) => 'authorization' in headers)).toEqual([true, false])
    expect(await failureOf(away('gs://eo-data/b').result)).toMatchObject({ code: 'REDIRECT_INVALID' })
  })

  it('a gs: URL is not a token endpoint', async () => {
    const wanted = target(scheme.client('gs://eo-data/token'), 'gs://eo-data/f')
    expect(await failureOf(victim({ credentials: token('gs://eo-data/') }).auth.authorize(wanted))).toMatchObject({
      code: 'URL_SCHEME_FORBIDDEN',
    })
  })

  it('a gs: URL of an alternate inherits references in the same bucket only', () => {
    const alternate = { near: { href: 'gs://eo-data/b' }, far: { href: 'gs://evil-data/b' } }
    const document = item({ k: scheme.bearer }, { data: asset('gs://eo-data/a', ['k'], { alternate }) })
    expect(['near', 'far'].map((name) => found(alternateOf(document, 'data', name)).refs)).toEqual([['k'], []])
  })

  it('a gs: URL is nothing that lint warns of where authorize accepts it', async () => {
    const document = item({ k: scheme.bearer }, { data: asset('gs://eo-data/a', ['k'], { type: 'image/tiff' }) })
    expect(lint(document).filter(({ code }) => code === 'scheme-href-mismatch')).toEqual([])
    expect(await authorized('gs://eo-data/a', token('gs://eo-data/'))).toMatchObject({ credential: 'token' })
  })
})

describe('a gs: pattern', () => {
  it.each(['gs://EO/', 'gs://*/', 'gs://*.eo/', 'gs://eo/../b/', 'gs://u@eo/', 'gs://eo:443/', 'gs://eo/?a', 'gs:eo', 'gs://'])(
    '%s is refused',
    async (sendTo) => {
      const error = await failureOf(victim({ credentials: token(sendTo) }).auth.ready())
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/sendTo/0' })
    },
  )

  it('covers its bucket and no other one that begins so', async () => {
    const reached = async (href: string) =>
      (
        await victim({ credentials: token('gs://eo/'), byAddress: true }).auth.authorize(
          assetOf(item(undefined, { data: { href } }), 'data'),
        )
      ).credential
    expect(await reached('gs://eo/a')).toBe('token')
    expect(await reached('gs://eo-evil/a')).toBeUndefined()
    expect(await reached('https://eo.storage.googleapis.com/a')).toBeUndefined()
    expect(await reached('https://storage.googleapis.com.evil.example/eo/a')).toBeUndefined()
  })
})

it.each(['gs:a/gs://bucket/key', 'gs://a..b/key'])('%s has no https form', (href) => {
  expect(httpsForm(href)).toBeUndefined()
})
