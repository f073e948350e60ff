import { describe, expect, it } from 'vitest'
import * as node from '../../src/platform/node.ts'
import * as web from '../../src/platform/web.ts'

describe.each([
  ['node', node],
  ['web', web],
])('hashes of %s', (_name, { sha256Hex, digest, hmacKey }) => {
  it('return the digest of FIPS 180-4', async () => {
    expect(await sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  it.each([
    ['MD5', '900150983cd24fb0d6963f7d28e17f72'],
    ['SHA-256', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['SHA-512-256', '53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23'],
  ] as const)('return %s of bytes', async (algorithm, hex) => {
    expect(Buffer.from(await digest(algorithm, new TextEncoder().encode('abc'))).toString('hex')).toBe(hex)
  })

  it('return the code of RFC 4231, test case 2', async () => {
    const key = await hmacKey(new TextEncoder().encode('Jefe'))
    const code = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
    expect(await key.signHex('what do ya want for nothing?')).toBe(code)
    expect(Buffer.from(await key.sign('what do ya want for nothing?')).toString('hex')).toBe(code)
  })

  it('take texts as UTF-8', async () => {
    expect(await sha256Hex('é')).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c')
  })
})

it('hashes on Node are synchronous', () => {
  expect(typeof node.sha256Hex('')).toBe('string')
  expect(node.hmacKey(new Uint8Array(1)).sign('')).toBeInstanceOf(Uint8Array)
})
