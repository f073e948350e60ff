import { describe, expect, it } from 'vitest'
import { coverOf, openedBy } from '../../../src/strategies/signed-url/reuse.ts'

const A = 'https://acc.blob.core.windows.net/c/d/f.tif'
const SAS = 'sv=2022-11-02&sp=r&sig=x'
const CDN = 'https://d1.cloudfront.net/a/b/f.tif'

const policy = (Resource: unknown, more: unknown[] = []) => {
  const text = btoa(JSON.stringify({ Statement: [{ Resource, Condition: { DateLessThan: { 'AWS:EpochTime': 1 } } }, ...more] }))
  return `Policy=${text.replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~')}&Signature=s&Key-Pair-Id=K`
}

describe('what a signature covers', () => {
  it.each([
    ['a container', A, `${SAS}&sr=c`, '/c/', 1],
    ['a directory', A, `${SAS}&sr=d&sdd=1`, '/c/d/', 2],
    ['the root directory', A, `${SAS}&sr=d&sdd=0`, '/c/', 1],
    ['a container by a key of a user', A, `${SAS}&sr=c&skoid=1&sktid=2&skt=3&ske=4&sks=b&skv=5`, '/c/', 1],
    ['a folder of CloudFront', CDN, policy('https://d1.cloudfront.net/a/*'), '/a/', 1],
    ['a host of CloudFront', CDN, policy('https://d1.cloudfront.net/*'), '/', 0],
    ['both schemes', CDN, policy('http*://D1.cloudfront.net/a/b/*'), '/a/b/', 2],
  ])('what a signature covers is %s', (_name, asked, query, path, depth) => {
    expect(coverOf(`${asked}?${query}`, asked)).toMatchObject({ folder: { path }, depth, query: `?${query}` })
  })

  it.each([
    ['a blob', `${A}?${SAS}&sr=b`, A],
    ['nothing that is said', `${A}?${SAS}`, A],
    ['no signature', `${A}?sv=1&sr=c`, A],
    ['with a parameter of another kind', `${A}?${SAS}&sr=c&user=me`, A],
    ['twice', `${A}?${SAS}&sr=c&sr=b`, A],
    ['a blob in the root container', `https://acc.blob.core.windows.net/f.tif?${SAS}&sr=c`, 'https://acc.blob.core.windows.net/f.tif'],
    ['a directory deeper than the address', `${A}?${SAS}&sr=d&sdd=9`, A],
    ['a depth that is none', `${A}?${SAS}&sr=d&sdd=1e0`, A],
    ['on another origin', `https://other.blob.core.windows.net/c/d/f.tif?${SAS}&sr=c`, A],
    ['with another path', `${A.replace('/c/', '/x/')}?${SAS}&sr=c`, A],
    ['for an address that has a query', `${A}?snapshot=1&${SAS}&sr=c`, `${A}?snapshot=1`],
    ['behind an address with an encoded slash', `https://h.example/c%2fd/f?${SAS}&sr=c`, 'https://h.example/c%2fd/f'],
    ['one file of CloudFront', `${CDN}?${policy(CDN)}`, CDN],
    ['the beginning of a name', `${CDN}?${policy('https://d1.cloudfront.net/a/b*')}`, CDN],
    ['a wildcard within', `${CDN}?${policy('https://d1.cloudfront.net/*/b/*')}`, CDN],
    ['everything', `${CDN}?${policy('*')}`, CDN],
    ['every host', `${CDN}?${policy('https://*')}`, CDN],
    ['another host', `${CDN}?${policy('https://d2.cloudfront.net/a/*')}`, CDN],
    ['hosts that begin so', `${CDN}?${policy('https://d1.cloudfront.net*')}`, CDN],
    ['another folder', `${CDN}?${policy('https://d1.cloudfront.net/x/*')}`, CDN],
    ['two statements', `${CDN}?${policy('https://d1.cloudfront.net/a/*', [{}])}`, CDN],
    ['no text', `${CDN}?${policy(['https://d1.cloudfront.net/a/*'])}`, CDN],
    ['nothing that can be read', `${CDN}?Policy=%25%25&Signature=s&Key-Pair-Id=K`, CDN],
    ['an object store in words of its own', `https://h.example/a?${SAS}&sr=c`, 's3://h.example/a'],
  ])('what a signature covers is not known for %s', (_name, signed, asked) => {
    expect(coverOf(signed, asked)).toBeUndefined()
  })
})

describe('a signature is put', () => {
  const cover = coverOf(`${A}?${SAS}&sr=c`, A)
  const opened = (address: string) => cover && openedBy(cover, address)

  it.each([
    'https://acc.blob.core.windows.net/c/x',
    'https://acc.blob.core.windows.net:443/c/d/y%20z',
    'https://acc.blob.core.windows.net/c/x?',
  ])('a signature is put on %s', (address) => expect(opened(address)).toBe(`${new URL(address).href.replace(/\?$/, '')}?${SAS}&sr=c`))

  it.each([
    'https://acc.blob.core.windows.net/cc/x',
    'https://acc.blob.core.windows.net/x',
    'https://acc.blob.core.windows.net/c/../x/y',
    'https://acc.blob.core.windows.net/c/%2e%2e/x/y',
    'https://acc.blob.core.windows.net/c/..%2fx/y',
    'https://acc.blob.core.windows.net/C/x',
    'https://acc.blob.core.windows.net:8443/c/x',
    'http://acc.blob.core.windows.net/c/x',
    'https://evil.example/c/x',
    'https://acc.blob.core.windows.net.evil.example/c/x',
    'https://acc.blob.core.windows.net/c/x?comp=list',
    's3://acc.blob.core.windows.net/c/x',
  ])('not on %s', (address) => expect(opened(address)).toBeUndefined())
})
