import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LastOrigin } from '../../src/http/url.ts'
import { addressPiece } from '../harness/address-piece.ts'

describe('the origin of addresses that come one after the other', () => {
  it('the origin of successive URLs is the one that a parser finds, whatever follows', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('https://a.example', 'http://127.0.0.1:8080', 'https://a.example:444'),
        fc.array(addressPiece),
        (origin, pieces) => {
          const last = new LastOrigin()
          last.of(`${origin}/`)
          const url = origin + pieces.join('')
          if (URL.canParse(url)) expect(last.of(url)).toBe(new URL(url).origin)
          else expect(() => last.of(url)).toThrow(TypeError)
        },
      ),
    )
  })

  it('the origin of addresses that come one after the other is not taken for one that it begins', () => {
    const last = new LastOrigin()
    expect(last.of('https://a.example/x')).toBe('https://a.example')
    expect(last.of('https://a.example.evil.example/x')).toBe('https://a.example.evil.example')
    expect(last.of('https://b.example/https://b.exampl/x')).toBe('https://b.example')
    expect(last.of('https://c.example/')).toBe('https://c.example')
  })

  it('the origin of addresses that come one after the other is not remembered where there is none', () => {
    const last = new LastOrigin()
    expect([last.of('file:///a'), last.of('s3://bucket/key'), last.of('https://a.example/')]).toEqual(['null', 'null', 'https://a.example'])
  })

  it('the origin of successive URLs is not taken for one that stands elsewhere in the next URL', () => {
    const last = new LastOrigin()
    expect(last.of('https://a.example/x')).toBe('https://a.example')
    expect(last.of('https://b.example/?u=https://a.example')).toBe('https://b.example')
    expect(last.of('https://b.example0/x')).toBe('https://b.example0')
  })

  it('the origin of successive URLs is none for a relative URL, whatever came before', () => {
    const last = new LastOrigin()
    expect(() => last.of('/a')).toThrow(TypeError)
    expect(last.of('data:,a')).toBe('null')
    expect(() => last.of('null/a')).toThrow(TypeError)
  })
})
