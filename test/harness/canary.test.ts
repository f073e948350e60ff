import { describe, expect, it } from 'vitest'
import { type Canary, canary, canaryOf, cloned, leaks, shown } from './canary.ts'

const secret = canaryOf('pä/ss wörd"+~')

describe('the canary harness', () => {
  it.each([
    ['raw', secret.value],
    ['percent', encodeURIComponent(secret.value)],
    ['lower-case percent', encodeURIComponent(secret.value).toLowerCase()],
    ['form', String(new URLSearchParams({ a: secret.value }))],
    ['base64', btoa(String.fromCharCode(...new TextEncoder().encode(secret.value)))],
    ['base64url', Buffer.from(secret.value).toString('base64url')],
    ['base64 of an account', Buffer.from(`ada:${secret.value}`).toString('base64')],
    ['json', JSON.stringify({ a: secret.value })],
    ['hex', Buffer.from(secret.value).toString('hex')],
    ['quoted', secret.value],
    ['base64', Buffer.from(`{"key":"${secret.value}"}`).toString('base64')],
    ['base64', Buffer.from(`x:${secret.value}`).toString('base64')],
    ['base64url', Buffer.from(`${secret.value}, and more`).toString('base64url')],
    ['hex', Buffer.from(`a ${secret.value} b`).toString('hex').toUpperCase()],
  ])('sees %s', (encoding, text) => {
    expect(secret.seenIn(`before ${text} after`)).toContain(encoding)
  })

  it('sees nothing in innocent text', () => {
    expect(leaks([secret, canary('other')], { log: 'GET /a 200', json: '{"code":"NO_CREDENTIAL"}' })).toEqual([])
  })

  it('gives every secret a text of its own', () => {
    expect(new Set(Array.from({ length: 100 }, () => canary('x').value)).size).toBe(100)
  })

  it.each<[string, (one: Canary) => unknown]>([
    ['a message', ({ value }) => new Error(`token ${value}`)],
    ['a field of an error', ({ value }) => Object.assign(new Error('no'), { request: { headers: { authorization: value } } })],
    ['a hidden field', ({ value }) => Object.defineProperty(new Error('no'), 'body', { value, enumerable: false })],
    ['a cause', ({ value }) => new Error('no', { cause: new Error(value) })],
    ['a map deep inside', ({ value }) => ({ a: { b: { c: { d: { e: new Map([['k', { value }]]) } } } } })],
    ['what toJSON gives', ({ value }) => ({ toJSON: () => ({ value }) })],
  ])('sees a secret in %s', (_place, leaky) => {
    const one = canary('leak')
    expect(leaks([one], { error: shown(leaky(one)) })).not.toEqual([])
  })

  it('sees what survives a structured clone', () => {
    const one = canary('clone')
    expect(leaks([one], { clone: cloned({ headers: new Map([['authorization', one.value]]) }) })).not.toEqual([])
  })
})
