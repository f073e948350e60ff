import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type GatewayArchive, startGatewayArchive } from './gateway-archive.ts'
import { type Peer, startPeer } from './peer.ts'
import type { ShellUser } from './shell-user.ts'

let gdal: Peer<object> | undefined
let archive: GatewayArchive
let user: ShellUser
let expected: string

beforeAll(async () => {
  gdal = await startPeer('gdal')
  archive = await startGatewayArchive()
  user = await archive.user()
  const { stdout } = await user.sh('gdalinfo -checksum "$1"', `/vsicurl/${archive.publicCopy}`)
  expected = withoutName(stdout.toString())
}, 150_000)
afterAll(async () => {
  await archive?.close()
  if (gdal && 'stop' in gdal) await gdal.stop()
})
beforeEach(({ skip }) => {
  if (gdal && 'missing' in gdal) skip(gdal.missing)
})

/** What `gdalinfo` prints about a file, but for its name. */
function withoutName(text: string): string {
  return text.replace(/^Files: .*$/m, '')
}

const gdalinfo = async (item: string) => {
  const { code, stdout, stderr } = await user.sh('stac-auth run "$1" -- gdalinfo -checksum {data}', item)
  return code === 0 ? withoutName(stdout.toString()) : `${code}: ${stderr}`
}

describe('gdalinfo through the gateway prints what it prints about the public copy', () => {
  it('for every scheme of the demo', async () => {
    expect(expected).toMatch(/Size is 640, 480[\s\S]*Checksum=\d+/)
    const seen: Record<string, string> = {}
    for (const { name } of archive.servers.holdings) seen[name] = await gdalinfo(new URL(`items/${name}.json`, archive.servers.root).href)
    expect(seen).toEqual(Object.fromEntries(archive.servers.holdings.map(({ name }) => [name, expected])))
    expect(Object.keys(seen)).toEqual(
      expect.arrayContaining([
        'http-basic',
        'http-bearer',
        'http-digest',
        'key-query',
        's3',
        'signed-get',
        'oauth2',
        'http-scram-sha-256',
        'http-hoba',
      ]),
    )
  }, 120_000)

  it('for a token of OAuth 2.0 that is bound to a key', async () => {
    expect(await gdalinfo(await user.put('bound.json', archive.boundItem))).toBe(expected)
  })
})
