import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { assetOf } from '../../src/stac/target.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type S3Server, startS3Server } from '../servers/s3-server.ts'

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' }
const ITEM = {
  type: 'Feature',
  properties: { 'auth:schemes': { store: { type: 's3' } } },
  assets: { data: { href: 's3://eo/a.tif', 'auth:refs': ['store'] } },
}

let server: S3Server
beforeEach(async () => {
  server = await startS3Server({ objects: { 'eo/a.tif': 'hello world' }, keys: [KEYS], region: 'eu-central-1' })
})
afterEach(() => server.close())

describe('a presigned URL', () => {
  const presigned = (clock = { now: Date.now }) => {
    const entry = { type: 's3', ...KEYS, region: 'eu-central-1', endpoint: server.url, sendTo: 's3://eo/' }
    return createAuth({ credentials: unchecked(entry), clock }).authorize(assetOf(ITEM, 'data'), { presign: 60 })
  }

  it('a presigned URL opens by itself, needs no header and counts as secret', async () => {
    const request = await presigned()
    expect(request.headers).toEqual({})
    expect(request.secretIn).toEqual({ headers: [], url: true })
    expect(await (await fetch(request.url)).text()).toBe('hello world')
  })

  it('reports when it ends, and the server agrees', async () => {
    const past = Date.now() - 120_000
    const request = await presigned({ now: () => past })
    expect(Date.parse(request.expiresAt ?? '')).toBe(past + 60_000)
    expect((await fetch(request.url)).status).toBe(403)
  })

  it('a presigned URL in a document is sent as it is, and reports when it ended', async () => {
    const now = Date.now()
    const presignedAt = async (time: number) => (await presigned({ now: () => time })).url
    const entry = { id: 'mine', type: 's3', ...KEYS, endpoint: server.url, sendTo: 's3://eo/' }
    const auth = createAuth({ credentials: unchecked(entry) })
    const asset = (href: string) => assetOf({ ...ITEM, assets: { data: { href, 'auth:refs': ['store'] } } }, 'data')
    const good = asset(await presignedAt(now))
    expect(await (await auth.fetch(good)).text()).toBe('hello world')
    expect((await auth.authorize(good)).expiresAt).toBe(new Date(Math.floor(now / 1000) * 1000 + 60_000).toISOString())
    const old = Math.floor(now / 1000) * 1000 - 120_000
    const ended = await failureOf(auth.fetch(asset(await presignedAt(old))))
    const why = `refused a signed URL (S3) with 403: it expired at ${new Date(old + 60_000).toISOString()}`
    expect(ended).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining(why) })
    expect(ended).not.toHaveProperty('credential')
    const wrong = await auth.fetch(asset((await presignedAt(now)).replace(/.$/, 'x')))
    expect([wrong.status, await wrong.text()]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')])
  })

  it('a presigned URL is valid for whole seconds, a week at most', async () => {
    const auth = createAuth({ credentials: { type: 's3', ...KEYS, endpoint: server.url, sendTo: 's3://eo/' } })
    for (const presign of [0, -1, 1.5, 604_801, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(auth.authorize(assetOf(ITEM, 'data'), { presign })).rejects.toThrow(TypeError)
  })
})

describe('a URL of a document', () => {
  const reading = async (href: string) => {
    const entry = { id: 'mine', type: 's3', ...KEYS, region: 'eu-central-1', endpoint: server.url, sendTo: 's3://eo/' }
    const auth = createAuth({ credentials: unchecked(entry) })
    const target = assetOf({ ...ITEM, assets: { data: { href, 'auth:refs': ['store'] } } }, 'data')
    return Promise.all([auth.authorize(target, { presign: 60 }), auth.authorize(target), auth.fetch(target)].map(failureOf))
  }

  it.each([
    ['x-amz-request-payer=requester', /"requesterPays"/],
    ['X-Amz-Request-Payer=requester', /"requesterPays"/],
    ['x-amz%2Drequest-payer=requester', /"requesterPays"/],
    ['a=b&X-Amz-Expires=604800', /remove the parameters/],
    ['X-Amz-Security-Token=theirs', /remove the parameters/],
  ])('does not say what is signed: %s', async (query, hint) => {
    for (const origin of ['s3://eo', `${server.url}/eo`])
      for (const failure of await reading(`${origin}/a.tif?${query}`))
        expect(failure).toMatchObject({ code: 'URL_INVALID', hint: expect.stringMatching(hint) })
    expect(server.log).toEqual([])
  })

  it('a URL of a document has no signature for a host that it does not name', async () => {
    for (const failure of await reading('s3://eo/a.tif?X-Amz-Signature=00'))
      expect(failure).toMatchObject({ code: 'URL_INVALID', hint: expect.stringContaining('the https URL') })
    expect(server.log).toEqual([])
  })
})
