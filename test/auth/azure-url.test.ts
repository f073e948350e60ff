import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { basic } from '../../src/auth/credential.ts'
import { lint } from '../../src/lint/lint.ts'
import { assetOf } from '../../src/stac/target.ts'
import { asset, found, item, type Json, scheme } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { script } from '../harness/scripted.ts'

const ACCOUNT = { account_name: 'daymeteuwest' }
const BLOB = 'https://daymeteuwest.blob.core.windows.net/'

function engine() {
  const servers = script(() => ({ body: 'data' }))
  return { servers, auth: createAuth({ credentials: [basic('ada', 'secret', BLOB)], transport: servers.send }) }
}

const file = (href: string, members: Json = {}) => found(assetOf(item({ k: scheme.basic }, { data: asset(href, ['k'], members) }), 'data'))

describe('URLs of Azure Storage', () => {
  it.each([
    ['abfs://daymet-zarr/annual/hi.zarr', { 'xarray:storage_options': ACCOUNT }, 'daymet-zarr/annual/hi.zarr'],
    ['abfss://cpdata/a%20b.parquet', { 'table:storage_options': ACCOUNT }, 'cpdata/a%20b.parquet'],
    ['az://cpdata/a', { 'table:storage_options': ACCOUNT, 'xarray:storage_options': ACCOUNT }, 'cpdata/a'],
    ['abfss://cpdata@daymeteuwest.dfs.core.windows.net/a', {}, 'cpdata/a'],
    ['abfss://cpdata@daymeteuwest.dfs.core.windows.net/a', { 'table:storage_options': { account_name: 'other' } }, 'cpdata/a'],
  ])('%s with %j is requested at the https URL of its account', async (href, members, path) => {
    const { auth, servers } = engine()
    expect(await auth.explain(file(href, members))).toMatchObject({ href: BLOB + path })
    expect((await auth.explain(file(href, members))).refs).toMatchObject([{ ref: 'k', credential: 'http-1' }])
    expect(await auth.authorize(file(href, members))).toMatchObject({ url: BLOB + path, credential: 'http-1' })
    expect(await (await auth.fetch(file(href, members))).text()).toBe('data')
    expect(servers.sent.map(({ url }) => url)).toEqual([BLOB + path])
    expect(lint(item({ k: scheme.basic }, { data: asset(href, ['k'], members) })).map(({ code }) => code)).not.toContain('href-scheme')
  })

  it('a URL that names its account needs no document', async () => {
    const { auth, servers } = engine()
    await auth.fetch('abfss://cpdata@daymeteuwest.dfs.core.windows.net/a')
    expect(servers.sent).toMatchObject([{ url: `${BLOB}cpdata/a`, headers: { authorization: expect.stringContaining('Basic') } }])
  })

  it.each([
    ['abfs://cpdata/a', {}],
    ['abfs://cpdata/a', { 'table:storage_options': { account_name: 'evil.example/' } }],
    ['abfs://cpdata/a', { 'table:storage_options': { account_name: 'Daymet' } }],
    ['abfs://cpdata/a', { 'table:storage_options': { account_name: ['daymeteuwest'] } }],
    ['abfs://cpdata/a', { 'table:storage_options': ACCOUNT, 'xarray:storage_options': { account_name: 'other' } }],
    ['abfs://cpdata/../other/a', { 'table:storage_options': ACCOUNT }],
    ['abfs://cpdata/%2E%2e/other/a', { 'table:storage_options': ACCOUNT }],
    ['abfs://cpdata/a?sig=1', { 'table:storage_options': ACCOUNT }],
    ['abfs://c/a', { 'table:storage_options': ACCOUNT }],
    ['abfs://Cpdata/a', { 'table:storage_options': ACCOUNT }],
    ['abfs://user:pass@evil.example/a', { 'table:storage_options': ACCOUNT }],
    ['abfss://cpdata@daymeteuwest.dfs.core.windows.net.evil.example/a', {}],
    ['abfss://cpdata@evil@daymeteuwest.dfs.core.windows.net/a', {}],
    ['abfss://cpdata@onelake.dfs.fabric.microsoft.com/a', {}],
  ])('%s with %j is not requested', async (href, members) => {
    const { auth, servers } = engine()
    expect(await failureOf(auth.fetch(file(href, members)))).toMatchObject({ code: 'URL_SCHEME_FORBIDDEN', pointer: '/assets/data/href' })
    expect(servers.sent).toEqual([])
  })

  it('the account of a document is another one than that of the credential: nothing is sent', async () => {
    const { auth, servers } = engine()
    const other = file('abfs://cpdata/a', { 'table:storage_options': { account_name: 'evil' } })
    expect(await failureOf(auth.fetch(other))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
    expect(servers.sent).toEqual([])
  })
})
