import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { assetOf } from '../../src/stac/target.ts'
import { failureOf } from '../harness/canary.ts'
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

describe('a presigned address', () => {
  const presigned = (clock = { now: Date.now }) => {
    const entry = { type: 's3', ...KEYS, region: 'eu-central-1', endpoint: server.url, sendTo: 's3://eo/' }
    return createAuth({ credentials: entry, clock }).authorize(assetOf(ITEM, 'data'), { presign: 60 })
  }

  it('opens by itself, needs no header and counts as secret', async () => {
    const request = await presigned()
    expect(request.headers).toEqual({})
    expect(request.material).toEqual({ headers: [], url: true })
    expect(await (await fetch(request.url)).text()).toBe('hello world')
  })

  it('says when it ends, and the server agrees', async () => {
    const past = Date.now() - 120_000
    const request = await presigned({ now: () => past })
    expect(Date.parse(request.expiresAt ?? '')).toBe(past + 60_000)
    expect((await fetch(request.url)).status).toBe(403)
  })

  it('in a document is sent as it is, and tells when it ended', async () => {
    const now = Date.now()
    const presignedAt = async (time: number) => (await presigned({ now: () => time })).url
    const entry = { id: 'mine', type: 's3', ...KEYS, endpoint: server.url, sendTo: 's3://eo/' }
    const auth = createAuth({ credentials: entry })
    const asset = (href: string) => assetOf({ ...ITEM, assets: { data: { href, 'auth:refs': ['store'] } } }, 'data')
    const good = asset(await presignedAt(now))
    expect(await (await auth.fetch(good)).text()).toBe('hello world')
    expect((await auth.authorize(good)).expiresAt).toBe(new Date(Math.floor(now / 1000) * 1000 + 60_000).toISOString())
    const old = Math.floor(now / 1000) * 1000 - 120_000
    const ended = await failureOf(auth.fetch(asset(await presignedAt(old))))
    expect(ended).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('signed already: 403 AccessDenied') })
    expect(ended).toMatchObject({ hint: expect.stringContaining(`ended at ${new Date(old + 60_000).toISOString()}`) })
    expect(ended).toMatchObject({ credential: undefined })
    const wrong = await failureOf(auth.fetch(asset((await presignedAt(now)).replace(/.$/, 'x'))))
    expect(wrong).toMatchObject({ code: 'AUTH_REJECTED', hint: expect.stringContaining('its signature is not accepted') })
  })
})
