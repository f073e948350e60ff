import { describe, expect, it } from 'vitest'
import type { DigestChallenge } from '../../../src/strategies/http/digest.ts'
import { type ProtectionSpace, ProtectionSpaces } from '../../../src/strategies/http/digest.ts'
import { failureOf } from '../../harness/failure.ts'

const ORIGIN = 'https://data.example'

const challenge = (realm: string, nonce: string, domain?: string): DigestChallenge => ({
  realm,
  nonce,
  hash: 'SHA-256',
  isSession: false,
  isUtf8: false,
  userhash: false,
  qop: 'auth',
  opaque: undefined,
  algorithm: 'SHA-256',
  domain,
})
const zeros = (bytes: number) => new Uint8Array(bytes)
const useOf = (space: ProtectionSpace) => {
  const { nonce, nc } = space.take(zeros)
  return `${nonce} ${Number.parseInt(nc, 16)}`
}

describe('the realms of an origin', () => {
  const realmAt = (spaces: ProtectionSpaces, path: string) => spaces.covering(ORIGIN + path)?.challenge.realm

  it('are the latest thirty-two', () => {
    const spaces = new ProtectionSpaces()
    const keep = (index: number) => spaces.keep(challenge(`r${index}`, 'n', `/${index}/`), `${ORIGIN}/`)
    for (let index = 1; index <= 32; index++) keep(index)
    expect([realmAt(spaces, '/1/'), realmAt(spaces, '/32/')]).toEqual(['r1', 'r32'])
    keep(33)
    expect([realmAt(spaces, '/1/'), realmAt(spaces, '/2/'), realmAt(spaces, '/33/')]).toEqual([undefined, 'r2', 'r33'])
  })

  it('each have one challenge: a new one replaces what the old one named', () => {
    const spaces = new ProtectionSpaces()
    spaces.keep(challenge('r', 'n', '/old/'), `${ORIGIN}/`)
    spaces.keep(challenge('r', 'n', '/new/'), `${ORIGIN}/`)
    expect([realmAt(spaces, '/old/'), realmAt(spaces, '/new/')]).toEqual([undefined, 'r'])
  })

  it('stay when another one is forgotten, without what was known of the encoding', () => {
    const spaces = new ProtectionSpaces()
    const refused = spaces.keep(challenge('refused', 'n', '/a/'), `${ORIGIN}/`)
    spaces.keep(challenge('other', 'n', '/b/'), `${ORIGIN}/`)
    spaces.charset = 'ISO-8859-1'
    spaces.forget(refused)
    expect([realmAt(spaces, '/a/'), realmAt(spaces, '/b/'), spaces.charset]).toEqual([undefined, 'other', undefined])
  })
})

describe('the nonces of an origin', () => {
  it('are shared where more than one answer used them', () => {
    const spaces = new ProtectionSpaces()
    const space = spaces.keep(challenge('r', 'n'), `${ORIGIN}/`)
    const first = space.take(zeros)
    expect(spaces.isShared(space, first)).toBe(false)
    space.take(zeros)
    expect(spaces.isShared(space, first)).toBe(true)
    expect(spaces.isShared(space, { ...first, nonce: 'another' })).toBe(false)
  })

  it('are counted on, the thousand and twenty-four that were used last', () => {
    const spaces = new ProtectionSpaces()
    const use = (nonce: string) => useOf(spaces.keep(challenge('r', nonce), `${ORIGIN}/`))
    for (let index = 1; index <= 1024; index++) use(`n${index}`)
    expect(use('n1')).toBe('n1 2')
    use('n1025')
    expect(use('n1')).toBe('n1 3')
    expect(use('n3')).toBe('n3 2')
    expect(use('n2')).toBe('n2 1')
  })

  it('are answered with sixteen random bytes', () => {
    const { cnonce } = new ProtectionSpaces().keep(challenge('r', 'n'), `${ORIGIN}/`).take((bytes) => new Uint8Array(bytes).fill(255))
    expect(Buffer.from(cnonce, 'base64')).toEqual(Buffer.alloc(16, 255))
  })
})

describe('the lock of an origin', () => {
  const settled = async (work: Promise<unknown>) => {
    let isDone = false
    void work.then(() => {
      isDone = true
    })
    await new Promise((resolve) => setTimeout(resolve))
    return isDone
  }

  it('is shared, and every holder is told of the others', async () => {
    const { lock } = new ProtectionSpaces()
    const first = await lock.enter(false)
    expect(first.wasCrowded).toBe(false)
    const second = await lock.enter(false)
    expect([first.wasCrowded, second.wasCrowded]).toEqual([true, true])
    first.leave()
    second.leave()
    await settled(Promise.resolve())
    expect((await lock.enter(false)).wasCrowded).toBe(false)
  })

  it('is held alone after all who hold it, and before all who come later', async () => {
    const { lock } = new ProtectionSpaces()
    const first = await lock.enter(false)
    const alone = lock.enter(true)
    const another = lock.enter(true)
    const later = lock.enter(false)
    expect(await Promise.all([alone, another, later].map(settled))).toEqual([false, false, false])
    first.leave()
    expect((await alone).wasCrowded).toBe(false)
    expect(await Promise.all([another, later].map(settled))).toEqual([false, false])
    const { leave } = await alone
    leave()
    expect(await settled(later)).toBe(false)
    ;(await another).leave()
    expect(await settled(later)).toBe(true)
  })

  it('is not held by who gave up waiting', async () => {
    const { lock } = new ProtectionSpaces()
    const first = await lock.enter(true)
    const abort = new AbortController()
    const waiting = [lock.enter(true, abort.signal), lock.enter(false, abort.signal)]
    const last = lock.enter(true)
    abort.abort()
    for (const work of waiting) expect(await failureOf(work)).toMatchObject({ code: 'ABORTED' })
    expect(await settled(last)).toBe(false)
    first.leave()
    expect(await settled(last)).toBe(true)
  })
})
