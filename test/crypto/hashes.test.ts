import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { md5, sha512256 } from '../../src/crypto/legacy-digests.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const text = (value: string) => new TextEncoder().encode(value)

describe('MD5 (RFC 1321 A.5)', () => {
  it.each([
    ['', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['a', '0cc175b9c0f1b6a831c399e269772661'],
    ['abc', '900150983cd24fb0d6963f7d28e17f72'],
    ['message digest', 'f96b697d7cb7938d525a2f31aaf161d0'],
    ['abcdefghijklmnopqrstuvwxyz', 'c3fcd3d76192e4007dfb496cca67e13b'],
    ['1234567890'.repeat(8), '57edf4a22be3c955ac49da2e2107b67a'],
  ])('MD5 (RFC 1321 A.5) of %j', (message, digest) => {
    expect(hex(md5(text(message)))).toBe(digest)
  })
})

describe('SHA-512/256 (FIPS 180-4)', () => {
  it.each([
    ['', 'c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a'],
    ['abc', '53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23'],
  ])('SHA-512/256 (FIPS 180-4) of %j', (message, digest) => {
    expect(hex(sha512256(text(message)))).toBe(digest)
  })
})

it.each([
  ['md5', md5],
  ['sha512-256', sha512256],
] as const)('%s agrees with another implementation at every length around its blocks', (name, hash) => {
  for (let length = 0; length <= 300; length++) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 73 + length) % 256)
    const copy = bytes.slice()
    expect(hex(hash(bytes)), `${length} bytes`).toBe(createHash(name).update(bytes).digest('hex'))
    expect(bytes).toEqual(copy)
  }
})
