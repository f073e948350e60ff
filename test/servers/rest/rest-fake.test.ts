import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rawRequest } from '../service/raw-request.ts'
import { type RestFake, startRestFake } from './rest-fake.ts'

let fake: RestFake
beforeEach(async () => {
  fake = await startRestFake({ accepts: (token) => token === 'good' })
})
afterEach(() => fake.close())

const ask = (line: string, body?: string, headers: Readonly<Record<string, string>> = {}) => {
  const [method = '', path = ''] = line.split(' ')
  const sent = {
    ...{ 'user-agent': 'test', authorization: 'Bearer good' },
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
  return rawRequest(method, fake.url + path, { headers: sent, ...(body !== undefined && { body }) })
}
const XML = { 'content-type': 'application/xml', accept: 'application/xml' }
const HEAD = '<?xml version="1.0" encoding="UTF-8"?>'

describe('users', () => {
  it('users are made, listed, read, changed by PUT and deleted, in JSON', async () => {
    expect(await ask('POST /users', '{"name":"Ada"}')).toMatchObject({
      status: 201,
      json: { id: 1, name: 'Ada' },
      headers: { location: '/users/1' },
    })
    expect((await ask('PUT /users/1', '{"name":"Eve"}')).json).toEqual({ id: 1, name: 'Eve' })
    expect((await ask('GET /users')).json).toEqual([{ id: 1, name: 'Eve' }])
    expect(await ask('DELETE /users/1')).toMatchObject({ status: 204, text: '' })
    expect((await ask('GET /users/1')).status).toBe(404)
    fake.assertClean()
  })

  it('users are the same in XML', async () => {
    const made = await ask('POST /users', '<user><name>Ada &amp; Eve</name></user>', XML)
    expect(made).toMatchObject({ status: 201, text: `${HEAD}<user><id>1</id><name>Ada &amp; Eve</name></user>` })
    expect((await ask('GET /users/1')).json).toEqual({ id: 1, name: 'Ada & Eve' })
    expect((await ask('GET /users', undefined, { accept: 'text/xml' })).text).toBe(
      `${HEAD}<users><user><id>1</id><name>Ada &amp; Eve</name></user></users>`,
    )
    fake.assertClean()
  })
})

describe('what is refused', () => {
  it.each<[string, string | undefined, Record<string, string>, number]>([
    ['GET /users', undefined, { authorization: 'Bearer bad' }, 401],
    ['GET /users', undefined, { authorization: 'Basic good' }, 401],
    ['GET /users', undefined, { accept: 'text/html' }, 406],
    ['POST /users', 'name=Ada', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['POST /users', '{"name":"a","name":"b"}', {}, 400],
    ['POST /users', '{}', {}, 422],
    ['POST /users', '<!DOCTYPE user [<!ENTITY a "b">]><user><name>&a;</name></user>', XML, 400],
    ['POST /users', '<user><name>&a;</name></user>', XML, 400],
    ['POST /users/1', '{"name":"a"}', {}, 405],
    ['GET /others', undefined, {}, 404],
  ])('%s %s', async (line, body, headers, status) => {
    expect((await ask(line, body, headers)).status).toBe(status)
    expect(fake.users.size).toBe(0)
  })
})
