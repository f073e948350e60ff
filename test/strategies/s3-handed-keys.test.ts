import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { json } from '../../src/outputs/json.ts'
import { target } from '../harness/documents.ts'
import { unchecked } from '../harness/unchecked.ts'

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG', sessionToken: 'session' }
const OBJECT = target({ type: 's3' }, 's3://eo/a.tif')
const entry = (fields: object) => ({ type: 's3', endpoint: 'https://s3.example/', region: 'eu-1', sendTo: 's3://eo/', ...fields })

describe('keys of an object store', () => {
  it('keys of an object store are returned to those who request them', async () => {
    const { sessionToken: _none, ...persistent } = KEYS
    expect((await createAuth({ credentials: unchecked(entry(KEYS)) }).authorize(OBJECT, { keys: true })).keys).toEqual(KEYS)
    expect((await createAuth({ credentials: unchecked(entry(persistent)) }).authorize(OBJECT, { keys: true })).keys).toEqual(persistent)
  })

  it('keys of an object store are returned when they come from a function, which is asked once', async () => {
    let asked = 0
    const secretAccessKey = () => {
      asked++
      return KEYS.secretAccessKey
    }
    const auth = createAuth({ credentials: unchecked(entry({ ...KEYS, secretAccessKey })) })
    expect((await auth.authorize(OBJECT, { keys: true })).keys).toEqual(KEYS)
    expect(asked).toBe(1)
  })

  it('keys of an object store stay where they are otherwise, and with a URL that opens by itself', async () => {
    const auth = createAuth({ credentials: unchecked(entry(KEYS)) })
    for (const options of [{}, { keys: false }, { keys: true, presign: 60 }]) {
      const request = await auth.authorize(OBJECT, options)
      expect(request).not.toHaveProperty('keys')
      expect(JSON.stringify(request)).not.toContain(KEYS.secretAccessKey)
    }
  })

  it('keys of an object store are not part of the JSON form, and nothing of other schemes', async () => {
    expect(json(await createAuth({ credentials: unchecked(entry(KEYS)) }).authorize(OBJECT, { keys: true }))).not.toContain(
      KEYS.secretAccessKey,
    )
    const basic = { type: 'http', scheme: 'basic', username: 'a', password: 'b', sendTo: 'https://data.example/' }
    const other = createAuth({ credentials: unchecked(basic) }).authorize(
      target({ type: 'http', scheme: 'basic' }, 'https://data.example/f'),
      {
        keys: true,
      },
    )
    expect(await other).not.toHaveProperty('keys')
  })
})
