/** What archives say about their storage, in the shapes that they publish, and where requests go because of it. */
import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import { storagesOf } from '../../../src/stac/storage.ts'
import { alternateOf, assetOf, type Target } from '../../../src/stac/target.ts'
import { s3 } from '../../../src/strategies/s3/s3.ts'
import { found } from '../../harness/documents.ts'

/** One archive on two services, of which the second bills the reader; https first, S3 as the alternate. */
const TWO_SERVICES = {
  'hub-s3': { type: 'custom-s3', title: 'Hub', platform: 'https://eodata.hub.example', requester_pays: false },
  'cloud-s3': { type: 'custom-s3', title: 'Cloud', platform: 'https://eodata.cloud.example', region: 'waw3-1', requester_pays: true },
}
const AMAZON = { aws: { type: 'aws-s3', platform: 'https://{bucket}.s3.{region}.amazonaws.com', bucket: 'b', region: 'us-west-2' } }
const SAFE = 's3://eodata/Sentinel-2/MSI/L2A/2026/01/10/S2B.SAFE/IMG_DATA/B01_60m.jp2'

function itemOf(asset: object, properties: object = {}, members: object = {}) {
  const schemes = { s3: { type: 's3' }, oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/' } }
  return { type: 'Feature', properties: { 'auth:schemes': schemes, ...properties }, assets: { data: asset }, ...members }
}

const v2 = (refs: unknown, schemes: object = TWO_SERVICES, href = SAFE): Target =>
  found(assetOf(itemOf({ href, 'auth:refs': ['s3'], 'storage:refs': refs }, { 'storage:schemes': schemes }), 'data'))
const v1 = (fields: object, onAsset: object = {}, href = SAFE): Target =>
  found(assetOf(itemOf({ href, 'auth:refs': ['s3'], ...onAsset }, fields), 'data'))

const keys = { type: 's3', accessKeyId: 'AKID', secretAccessKey: 'secret' }
const entry = (fields: object = {}) => ({ ...keys, id: 'mine', sendTo: ['s3://eodata/'], ...fields }) as CredentialInput
const place = async (target: Target, ...credentials: CredentialInput[]) => {
  const auth = createAuth({ strategies: [s3], credentials: credentials.length > 0 ? credentials : [entry()] })
  const { credential, location, url } = await auth.authorize(target)
  return { credential, host: new URL(url).host, ...location }
}

describe('an archive on two services', () => {
  const hub = entry({ id: 'hub', endpoint: 'https://eodata.hub.example' })
  const cloud = entry({ id: 'cloud', endpoint: 'https://eodata.cloud.example/' })

  it('an archive on two services is asked at the one whose URL the user granted, in its region', async () => {
    const only = entry({ sendTo: ['https://eodata.cloud.example/eodata/'] })
    expect(await place(v2(['hub-s3', 'cloud-s3']), only)).toMatchObject({ host: 'eodata.cloud.example', region: 'waw3-1' })
  })

  it('of two services of one archive, the credential of the named service signs, although both cover it', async () => {
    expect(await place(v2(['hub-s3']), hub, cloud)).toMatchObject({ credential: 'hub', host: 'eodata.hub.example' })
    expect(await place(v2(['cloud-s3']), hub, cloud)).toMatchObject({ credential: 'cloud', host: 'eodata.cloud.example' })
    expect(await place(v2(['hub-s3', 'cloud-s3']), cloud, hub)).toMatchObject({ credential: 'cloud' })
    expect(await place(v2([]), cloud, hub)).toMatchObject({ credential: 'cloud' })
  })

  it('an archive on two services is asked at Amazon with the credential for Amazon, which names no URL', async () => {
    const amazon = entry({ id: 'amazon' })
    for (const credentials of [
      [hub, amazon],
      [amazon, hub],
    ]) {
      expect(await place(v2(['aws'], AMAZON), ...credentials)).toMatchObject({
        credential: 'amazon',
        host: 'eodata.s3.us-west-2.amazonaws.com',
      })
      expect(await place(v2(['hub-s3']), ...credentials)).toMatchObject({ credential: 'hub' })
    }
  })

  it('names the credential of its service as the one that lacks the permission', async () => {
    const other = v2(['aws'], AMAZON, 's3://other/k')
    await expect(place(other, hub, entry({ id: 'amazon' }))).rejects.toMatchObject({
      hint: expect.stringContaining('trust amazon s3://other/'),
    })
    await expect(place(v2(['hub-s3'], TWO_SERVICES, 's3://other/k'), entry({ id: 'amazon' }), hub)).rejects.toMatchObject({
      credential: 'hub',
    })
  })

  it('takes the region from what is said about that service, not about the other', async () => {
    expect(await place(v2(['hub-s3', 'cloud-s3']), cloud)).toMatchObject({ region: 'waw3-1' })
    expect(await place(v2(['cloud-s3', 'hub-s3']), hub)).toMatchObject({ region: 'us-east-1' })
    expect(await place(v2(['cloud-s3']), entry({ ...hub, region: 'default' }))).toMatchObject({ region: 'default' })
  })

  it('an archive on two services is found through the alternate of an asset that is https itself', async () => {
    const asset = {
      href: 'https://zipper.example/B01_60m',
      'auth:refs': ['oidc'],
      'storage:refs': [],
      alternate: { s3: { href: SAFE, 'auth:refs': ['s3'], 'storage:refs': ['hub-s3', 'cloud-s3'] } },
    }
    const target = found(alternateOf(itemOf(asset, { 'storage:schemes': TWO_SERVICES }), 'data', 's3'))
    expect(await place(target, hub)).toMatchObject({ host: 'eodata.hub.example', bucket: 'eodata', virtualHost: false })
  })

  it('an archive on two services has its schemes where a Collection keeps them', async () => {
    const document = itemOf({ href: SAFE, 'auth:refs': ['s3'], 'storage:refs': ['cloud-s3'] })
    const collection = { type: 'Collection', 'storage:schemes': TWO_SERVICES }
    const target = found(assetOf(document, 'data', { parents: [collection] }))
    expect(await place(target, cloud)).toMatchObject({ host: 'eodata.cloud.example', region: 'waw3-1' })
  })

  it('gets no signature at a service that is not in signedUrlHosts', async () => {
    const refused = place(v2(['cloud-s3']), entry())
    await expect(refused).rejects.toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED', actual: 'https://eodata.cloud.example' })
  })
})

describe('the storage extension, version 2', () => {
  it('describes services that have the bucket in their host name', async () => {
    const schemes = { otc: { type: 'custom-s3', platform: 'https://{bucket}.obs.{region}.cloud.example', region: 'eu-de' } }
    const granted = entry({ sendTo: ['https://eodata.obs.eu-de.cloud.example/'] })
    const at = { host: 'eodata.obs.eu-de.cloud.example', bucket: 'eodata', region: 'eu-de', virtualHost: true }
    expect(await place(v2(['otc'], schemes), granted)).toMatchObject(at)
    const https = v2(['otc'], schemes, 'https://eodata.obs.eu-de.cloud.example/Sentinel-2/a.jp2')
    expect(await place(https, granted)).toMatchObject({ ...at, key: 'Sentinel-2/a.jp2' })
  })

  it('the storage extension, version 2 cannot make a host below the endpoint of the user the user’s own', async () => {
    const schemes = { evil: { type: 'custom-s3', platform: 'https://{bucket}.hub.example' } }
    const target = v2(['evil'], schemes, 'https://eodata.hub.example/a')
    await expect(place(target, entry({ endpoint: 'https://hub.example' }))).rejects.toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
  })

  it('the storage extension, version 2 is read where it names no URL, a lone name, or one name twice', async () => {
    expect(await place(v2(['aws'], { aws: { type: 'aws-s3', region: 'eu-north-1' } }))).toMatchObject({ region: 'eu-north-1' })
    expect(storagesOf(v2('cloud-s3'))).toHaveLength(1)
    expect(storagesOf(v2(['cloud-s3', 'cloud-s3', 7, 'none']))).toHaveLength(1)
    expect(storagesOf(v2('none'))).toEqual([])
  })

  it('reports nothing to S3 about Azure, and no more than a hundred things', async () => {
    const schemes: Record<string, object> = { az: { type: 'ms-azure', platform: 'https://acct.blob.example', region: 'westeurope' } }
    for (let index = 0; index < 150; index++) schemes[`n${index}`] = TWO_SERVICES['cloud-s3']
    expect(await place(v2(['az'], schemes))).toMatchObject({ host: 'eodata.s3.us-east-1.amazonaws.com', region: 'us-east-1' })
    expect(storagesOf(v2(Object.keys(schemes), schemes))).toHaveLength(100)
  })
})

describe('the storage extension, version 1', () => {
  it('names Amazon, and the asset goes before the item', async () => {
    const item = { 'storage:platform': 'AWS', 'storage:region': 'us-west-2', 'storage:requester_pays': true }
    expect(await place(v1(item))).toMatchObject({ host: 'eodata.s3.us-west-2.amazonaws.com', requesterPays: false })
    expect(await place(v1(item, { 'storage:region': 'eu-central-1' }))).toMatchObject({ region: 'eu-central-1' })
    expect(await place(v1(item), entry({ requesterPays: true }))).toMatchObject({ requesterPays: true })
  })

  it('returns the region only where the platform is another one', async () => {
    const own = entry({ endpoint: 'https://eodata.hub.example' })
    const fields = { 'storage:platform': 'CREODIAS', 'storage:region': 'waw3-1' }
    expect(await place(v1(fields), own)).toMatchObject({ host: 'eodata.hub.example', region: 'waw3-1' })
    expect(await place(v1({ 'storage:platform': 'AWS', 'storage:region': 'us-west-2' }), own)).toMatchObject({ region: 'us-east-1' })
  })
})
