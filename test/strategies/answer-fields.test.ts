import { describe, expect, it } from 'vitest'
import { fieldAt, isPlaceInAnswer } from '../../src/strategies/credential-values.ts'

const answer = { token: 't', 'a/b': { 'm~n': [{ key: 'k' }, 'second'] }, '': 'empty', nothing: null }

describe('a field of an answer', () => {
  it.each([
    ['token', 't'],
    ['/token', 't'],
    ['a/b', answer['a/b']],
    ['/a~1b/m~0n/0/key', 'k'],
    ['/a~1b/m~0n/1', 'second'],
    ['/', 'empty'],
    ['/nothing', null],
  ])('a field of an answer is found at %s', (place, value) => {
    expect(fieldAt(answer, place)).toEqual(value)
  })

  it.each(['missing', '/token/0', '/a~1b/m~0n/01', '/a~1b/m~0n/-', '/a~1b/m~0n/length', '/nothing/x', 'toString', '/__proto__/x'])(
    'a field of an answer is not found at %s',
    (place) => {
      expect(fieldAt(answer, place)).toBeUndefined()
    },
  )

  it('a field of an answer is not found in an answer that is a text or a list without that member', () => {
    expect([fieldAt('text', 'length'), fieldAt(['x'], 'length'), fieldAt(undefined, 'x')]).toEqual([undefined, undefined, undefined])
  })

  it.each([
    ['token', true],
    ['/a~1b', true],
    ['', false],
    ['/a~2b', false],
    ['/a~', false],
  ])('the place "%s" is accepted: %s', (place, isAccepted) => {
    expect(isPlaceInAnswer(place)).toBe(isAccepted)
  })
})
