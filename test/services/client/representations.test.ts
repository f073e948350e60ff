import { afterEach, describe, expect, it } from 'vitest'
import { xmlCodec } from '../../../examples/xml-codec.ts'
import { ApiClient } from '../../../src/services/client/api-client.ts'
import type { Codec } from '../../../src/services/client/response.ts'
import { JSON_REST, RestResource, type ServiceProfile } from '../../../src/services/client/rest-resource.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type RestFake, startRestFake } from '../../servers/rest/rest-fake.ts'
import { transport } from './service.ts'

interface User {
  readonly id: number | string
  readonly name: string
}

const open: RestFake[] = []
afterEach(() => Promise.all(open.splice(0).map((service) => service.close())))

const codec = xmlCodec('user')
const XML_REST: ServiceProfile = { ...JSON_REST, body: 'xml', accept: 'application/xml', codec }

async function usersBy(profile: ServiceProfile, { token = 'good-token', reads }: { token?: string; reads?: Codec } = {}) {
  const service = await startRestFake({ accepts: (given) => given === 'good-token' })
  open.push(service)
  const credential = { type: 'http', scheme: 'bearer', token }
  const client = new ApiClient({
    baseUrl: service.url,
    credential: unchecked(credential),
    allowInsecure: 'loopback',
    transport,
    ...(reads && { codec: reads }),
  })
  return { service, users: new RestResource<User>({ client, profile, path: 'users' }) }
}

describe('users of a service', () => {
  it.each([
    ['JSON', JSON_REST, undefined, 1],
    ['XML', XML_REST, codec, '1'],
  ] as const)('users of a service are made, read, changed, listed and deleted in %s', async (format, profile, reads, id) => {
    const { service, users } = await usersBy(profile, reads && { reads })
    expect(await users.create({ name: 'Ada <& "Eve"> ü\r' })).toMatchObject({ id, name: 'Ada <& "Eve"> ü\r' })
    expect(await users.update(1, { name: 'Ada' })).toEqual({ id, name: 'Ada' })
    expect(await users.get(1)).toEqual({ id, name: 'Ada' })
    expect(await users.list()).toEqual([{ id, name: 'Ada' }])
    expect(await users.delete(1)).toBeUndefined()
    expect(service.log.map(({ method, rawUrl }) => `${method} ${rawUrl}`)).toEqual([
      'POST /users',
      'PUT /users/1',
      'GET /users/1',
      'GET /users',
      'DELETE /users/1',
    ])
    const type = `application/${format.toLowerCase()}`
    expect(new Set(service.log.map(({ headers }) => headers.accept))).toEqual(new Set([type]))
    expect(service.log.flatMap(({ headers }) => headers['content-type'] ?? [])).toEqual([type, type])
    service.assertClean()
  })

  it('users of a service are refused with a wrong token', async () => {
    const { service, users } = await usersBy(JSON_REST, { token: 'wrong-token' })
    expect(await failureOf(users.create({ name: 'Eve' }))).toMatchObject({ name: 'AuthenticationError' })
    expect(service.users.size).toBe(0)
  })

  it('users of a service cannot be read as XML without a codec', async () => {
    const { users } = await usersBy(XML_REST)
    await users.create({ name: 'Ada' }).catch(() => undefined)
    expect(await failureOf(users.list())).toMatchObject({ code: 'MEDIA_TYPE_UNSUPPORTED', contentType: expect.stringContaining('xml') })
    const { users: unwritten } = await usersBy({ ...XML_REST, codec: { parse: codec.parse } })
    expect(await failureOf(unwritten.create({ name: 'Ada' }))).toMatchObject({ code: 'REQUEST_INVALID', field: 'body' })
  })

  it('users of a service are requested in a format that the service has', async () => {
    const { users } = await usersBy({ ...JSON_REST, accept: 'text/csv' })
    expect(await failureOf(users.list())).toMatchObject({ code: 'HTTP_406' })
  })
})

describe('untrusted XML', () => {
  it.each([
    ['entities that unfold', '<!DOCTYPE user [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><user><name>&c;</name></user>'],
    ['files of the machine', '<!DOCTYPE user [<!ENTITY a SYSTEM "file:///etc/passwd">]><user><name>&a;</name></user>'],
    ['a document type without entities', '<!DOCTYPE user SYSTEM "https://other.example/user.dtd"><user/>'],
    ['an entity that nobody declared', '<user><name>&a;</name></user>'],
    ['two roots', '<user/><user/>'],
    ['no end', '<user><name>'],
  ])('untrusted XML is refused: %s', async (_what, body) => {
    const { service, users } = await usersBy(XML_REST, { reads: codec })
    service.script({ times: 5, do: { status: 200, headers: { 'Content-Type': 'application/xml' }, body } })
    expect(await failureOf(users.get(1, { retry: false }))).toMatchObject({ code: 'RESPONSE_INVALID', snippet: body.slice(0, 200) })
  })

  it('untrusted XML cannot reach a prototype', () => {
    const value = codec.parse('<user><__proto__><admin>1</admin></__proto__></user>', 'application/xml') as Record<string, unknown>
    expect([Object.keys(value), value.admin]).toEqual([['__proto__'], undefined])
  })
})
