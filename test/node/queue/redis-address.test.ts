import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { redisAddressOf } from '../../../src/node/base/redis-connection.ts'

describe('redisAddressOf', () => {
  it.each([
    ['redis://h', { host: 'h', port: 6379, db: 0, encrypted: false, shown: 'redis://h:6379' }],
    ['rediss://h:1/', { host: 'h', port: 1, db: 0, encrypted: true, shown: 'rediss://h:1' }],
    ['redis://[::1]:6380/7', { host: '::1', port: 6380, db: 7, encrypted: false, shown: 'redis://[::1]:6380/7' }],
    ['redis://ada:p%40ss%2F@h', { host: 'h', port: 6379, db: 0, encrypted: false, username: 'ada', shown: 'redis://h:6379' }],
  ])('reads %s', (text, expected) => {
    expect(redisAddressOf(text)).toEqual(expected)
  })

  it('decodes a password and shows it nowhere', () => {
    const address = redisAddressOf('redis://:p%40ss%2F@h')
    expect(address.password).toBe('p@ss/')
    expect(inspect(address) + JSON.stringify(address) + address.shown).not.toMatch(/p@ss|p%40/)
  })

  it.each(['', 'h:6379', 'http://h', 'redis://', 'redis://h/x', 'redis://h/1/2', 'redis://:secret@h?db=1', 'redis://h#1', 'catalog/'])(
    'refuses %j without repeating it',
    (text) => {
      const refused = () => redisAddressOf(text)
      expect(refused).toThrow(expect.objectContaining({ code: 'USAGE' }))
      expect(refused).not.toThrow(/secret/)
    },
  )
})
