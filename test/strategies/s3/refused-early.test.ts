import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../../src/auth/credential.ts'
import { assetOf } from '../../../src/stac/target.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'

const KEYS = { accessKeyId: 'AKID', secretAccessKey: 'secret' }

const store = (own: object = {}): CredentialObject => ({ id: 'store', type: 's3', sendTo: ['s3://eo/'], ...KEYS, ...own })

function failure(credentials: readonly CredentialObject[], href = 's3://eo/a') {
  const item = {
    type: 'Feature',
    properties: { 'auth:schemes': { s3: { type: 's3' } } },
    assets: { data: { href, 'auth:refs': ['s3'] } },
  }
  return failureOf(createAuth({ credentials: unchecked(credentials) }).authorize(assetOf(item, 'data')))
}

describe('an s3 credential', () => {
  it.each(['accessKeyId', 'sessionToken'])('refuses a %s that cannot stand in a header', async (field) => {
    for (const value of ['schlüssel', '鍵', 'two words'])
      expect(await failure([store({ [field]: value })])).toMatchObject({
        code: 'CREDENTIAL_VALUE_INVALID',
        credential: 'store',
        message: expect.stringMatching(`^${field} of "store" contains a blank or `),
      })
  })

  it.each(['eu-central-1/x', 'EU (Frankfurt)', ''])('refuses the region %j instead of signing for us-east-1', async (region) => {
    expect(await failure([store({ region })])).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/region' })
  })
})

describe('the URL of an access point', () => {
  const href = 'https://mine-123456789012.s3-accesspoint.us-west-2.amazonaws.com/k'
  const unsupported = { code: 'SCHEME_UNSUPPORTED', pointer: '/assets/data/href', message: expect.stringContaining('S3 access points') }

  it('is reported as unsupported, not as a host to add to sendTo or to add a credential for', async () => {
    for (const credentials of [[store()], []]) expect(await failure(credentials, href)).toMatchObject(unsupported)
  })
})
