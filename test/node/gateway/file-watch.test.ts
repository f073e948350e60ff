import { describe, expect, it } from 'vitest'
import type { Warning } from '../../../src/auth/strategy.ts'
import { itemWith, openGateway, startArchive, withToken } from './origin.ts'

const ERROR = '{"error":{"message":"Maximum number of 4 concurrent flows"}}'

async function opened() {
  const archive = await startArchive({
    files: { '/a.tif': ERROR, '/b.tif': 'II*\0 and more', '/c': ERROR, '/d.nc': '<html>log in</html>', '/e': ERROR },
    types: { '/d.nc': 'text/html', '/c': 'application/json' },
  })
  const warnings: Warning[] = []
  const href = (path: string) => `${archive.origin}${path}`
  const assets = Object.fromEntries(
    ['a.tif', 'b.tif', 'c', 'd.nc'].map((path) => [
      path,
      { href: href(path), 'auth:refs': ['token'], ...(path === 'c' && { type: 'image/jp2' }) },
    ]),
  )
  const document = itemWith(assets) as never
  const gateway = await openGateway(withToken(archive.origin), {
    documents: [{ document }],
    onWarning: (warning) => warnings.push(warning),
  })
  const get = async (path: string, headers = {}) => (await fetch(gateway.urlFor(href(path)), { headers })).text()
  return { warnings, get, href }
}

describe('a response of the gateway that is not the promised file', () => {
  it('is passed on unchanged, with one warning for each URL', async () => {
    const { warnings, get, href } = await opened()
    for (const _ of [1, 2]) expect([await get('a.tif'), await get('c'), await get('d.nc')]).toEqual([ERROR, ERROR, '<html>log in</html>'])
    const says = ': the program gets it as it is. The server says: Maximum number of 4 concurrent flows'
    expect(warnings).toEqual([
      {
        code: 'CONTENT_TYPE_UNEXPECTED',
        pointer: '/assets/a.tif',
        message: `${href('a.tif')} is an error in JSON, but "a.tif" was expected${says}`,
      },
      {
        code: 'CONTENT_TYPE_UNEXPECTED',
        pointer: '/assets/c',
        message: `${href('c')} is an error in JSON, but image/jp2 was expected${says}`,
      },
      {
        code: 'CONTENT_TYPE_UNEXPECTED',
        pointer: '/assets/d.nc',
        message: `${href('d.nc')} is a web page, but "d.nc" was expected: the program gets it as it is`,
      },
    ])
  })

  it('is noticed in a range from the first byte, and in no other', async () => {
    const { warnings, get } = await opened()
    await get('a.tif', { range: 'bytes=9-20' })
    expect(warnings).toEqual([])
    await get('a.tif', { range: 'bytes=0-15' })
    expect(warnings).toHaveLength(1)
  })

  it('is none where the file is right, or nothing is promised', async () => {
    const { warnings, get } = await opened()
    await get('b.tif')
    await get('e')
    expect(warnings).toEqual([])
  })
})
