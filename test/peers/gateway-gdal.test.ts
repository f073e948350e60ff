import { chmod } from 'node:fs/promises'
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

const gdalinfo = async (item: string, program = 'gdalinfo') => {
  const { code, stdout, stderr } = await user.sh('stac-auth run "$1" -- "$2" -checksum {data}', item, program)
  return code === 0 ? withoutName(stdout.toString()) : `${code}: ${stderr}`
}

/** Opens its file as QGIS does: `QDir::cleanPath`, then GDAL. */
const QGIS = `#!/usr/bin/env python3
import os, posixpath, sys
os.execvp('gdalinfo', ['gdalinfo', *sys.argv[1:-1], posixpath.normpath(sys.argv[-1])])
`

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

  it('where a program shortens the path of its argument before GDAL opens it, as QGIS does', async () => {
    const program = await user.put('qgis', QGIS)
    await chmod(program, 0o755)
    const [{ name } = { name: '' }] = archive.servers.holdings
    const item = new URL(`items/${name}.json`, archive.servers.root).href
    expect(await gdalinfo(item, program)).toBe(expected)
    const shortened = await user.sh('stac-auth run "$1" -- "$2" -checksum "/vsicurl/"{url:data}', item, program)
    expect(shortened.code).not.toBe(0)
  })
})
