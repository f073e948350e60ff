import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { assetOf } from '../../src/stac/target.ts'
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
})
