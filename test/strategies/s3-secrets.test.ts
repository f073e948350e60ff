import { describe, expect, it } from 'vitest'
import { canary, leaks, shown } from '../harness/canary.ts'
import { target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { victim } from '../harness/victim.ts'

const wanted = target({ type: 's3' }, 's3://eo/a.tif')

/** An engine with an entry whose secret key comes from there. */
function engine(secretAccessKey: unknown) {
  return victim({
    credentials: unchecked({ id: 'eo', type: 's3', accessKeyId: 'AKID', secretAccessKey, region: 'eu-central-1', sendTo: 's3://eo/' }),
  })
}

describe('the secret of an s3 credential', () => {
  it.each(['', ' a', 'a\r\nb', 'a\0'])('the secret of an s3 credential that is %j is CREDENTIAL_VALUE_INVALID', async (value) => {
    for (const given of [value, () => value, async () => value]) {
      const { auth, script } = engine(given)
      expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', credential: 'eo' })
      expect(script.sent).toEqual([])
    }
  })

  it('the secret of an s3 credential that a function fails to give is CREDENTIAL_SOURCE, and not shown', async () => {
    const secret = canary('s3')
    const failing = [
      () => Promise.reject(new Error(secret.value)),
      () => {
        throw new Error(secret.value)
      },
    ]
    for (const read of failing) {
      const error = await failureOf(engine(read).auth.authorize(wanted))
      expect(error).toMatchObject({ code: 'CREDENTIAL_SOURCE', credential: 'eo' })
      expect(leaks([secret], { error: shown(error) })).toEqual([])
    }
  })

  it('the secret of an s3 credential is requested once by a request, and not for a look ahead', async () => {
    let asked = 0
    const { auth } = engine(async () => `secret${++asked}`)
    await auth.authorize(wanted)
    expect(auth.peek(wanted)).toBeUndefined()
    expect(asked).toBe(1)
  })
})
