import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainGatewayPath, readGatewayPath } from '../../../src/node/gateway/gateway-url.ts'

const read = (path: string) => readGatewayPath(`/c/${path}`).url

describe('a plain path of the gateway', () => {
  it('is that of the URL where no program can misread it', () => {
    expect(plainGatewayPath('https://data.example:8443/s2/T32_B04-x.tif')).toBe('https/data.example:8443/s2/T32_B04-x.tif')
  })

  it('has no character with a meaning to a shell, and ends with the extension', () => {
    const cases = {
      'https://h.example/a;touch$IFS$9RAN;.tif': 'plain/https/h.example/a__3Btouch__24IFS__249RAN__3B.tif',
      'https://h.example/Products(1)/c.nc?x=1&y=/2': 'plain/qx__3D1__26y__3D__2F2/https/h.example/Products__281__29/c.nc',
      'https://h.example/%VAR%/a%20b.tif': 'plain/https/h.example/__25VAR__25/a__2520b.tif',
      's3://bucket/a__3Bb,c': 'plain/s3/bucket/a__5F_3Bb__2Cc',
      'https://[::1]/x': 'plain/https/__5B::1__5D/x',
    }
    for (const [url, path] of Object.entries(cases)) {
      expect(plainGatewayPath(url)).toBe(path)
      expect(read(path)).toBe(url)
    }
  })

  it('leads back to every URL, byte for byte', () => {
    const printable = fc.stringMatching(/^[!$-;=@-Z[\]_a-z|~]*$/)
    const underscores = fc.stringMatching(/^[_0-9A-F;?]*$/)
    const part = fc.oneof(printable, underscores)
    fc.assert(
      fc.property(part, part, (path, query) => {
        const url = `https://h.example/x/${path.replace(/\.|%/g, '')}?${query}`
        const plain = plainGatewayPath(url) ?? ''
        expect(plain).toMatch(/^[\w./:-]+$/)
        expect(read(plain)).toBe(url)
      }),
    )
  })

  it('takes a query that a program appends', () => {
    expect(read('plain/qa__3D1/https/h.example/x?b=2')).toBe('https://h.example/x?a=1&b=2')
    expect(read('plain/https/h.example/x__3B?b=2')).toBe('https://h.example/x;?b=2')
  })
})

describe('a request target', () => {
  it('names a URL only in visible ASCII without # and backslash, as it is and escaped', () => {
    for (let code = 0; code <= 0x17f; code++) {
      const isAllowed = code > 0x20 && code < 0x7f && code !== 0x23 && code !== 0x5c
      const character = String.fromCharCode(code)
      expect(read(`https/h.example/x${character}y`) !== undefined, `U+${code.toString(16)}`).toBe(isAllowed)
      expect(read(`https/h.example/x?a${character}y`) !== undefined, `U+${code.toString(16)} in a query`).toBe(isAllowed)
      const escaped = `__${code.toString(16).toUpperCase().padStart(2, '0')}`
      if (code < 256) expect(read(`plain/https/h.example/x${escaped}y`) !== undefined, escaped).toBe(isAllowed)
    }
  })

  it('names no URL with dot segments or a user in it, however they are written', () => {
    for (const path of ['a/../b', 'a/__2E__2E/b', 'a/__252e__252e/b', 'a__2F..__2Fb', '__2E./b'])
      expect([path, read(`plain/https/h.example/${path}`)]).toEqual([path, undefined])
    expect(read('plain/https/u__40h.example/x')).toBeUndefined()
    expect(read('plain/https/h.example__2F')).toBe('https://h.example/')
    expect(read('plain/ftp/h.example/x')).toBeUndefined()
  })
})
