import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { asset, item } from '../harness/documents.ts'
import { geotiff, pattern } from '../harness/geotiff.ts'
import { readWithGdal, sha256 } from './gdal-reader.ts'
import { type Peer, startPeer } from './peer.ts'
import { type ShellUser, shellUser } from './shell-user.ts'
import { useSwift } from './swift.ts'

const IMAGE = pattern(300, 200)
const FILE = geotiff(IMAGE)
const KEYS = ['plain.tif', "a/x y+z(1)~'!*é%41$(id).tif"]

const swift = useSwift()
let gdal: Peer<object> | undefined
let programs: Peer<object> | undefined

beforeAll(async () => {
  gdal = await startPeer('gdal')
  programs = await startPeer('outputs')
}, 300_000)
afterAll(async () => {
  for (const peer of [gdal, programs]) if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(async ({ skip }) => {
  for (const peer of [gdal, programs]) if (peer && 'missing' in peer) skip(peer.missing)
  for (const key of KEYS) await fill(key)
})

/** Through Swift's own interface, so that no signature has to be right for it. */
async function fill(key: string): Promise<void> {
  const { url, bucket, keys } = swift()
  const { accessKeyId, secretAccessKey } = keys
  const login = await fetch(`${url}/auth/v1.0`, { headers: { 'x-auth-user': accessKeyId, 'x-auth-key': secretAccessKey } })
  const headers = { 'x-auth-token': login.headers.get('x-auth-token') ?? '' }
  const address = `${url}/v1/AUTH_tests/${bucket}/${inPath(key)}`
  const { status } = await fetch(address, { method: 'PUT', headers, body: Uint8Array.from(FILE) })
  if (status !== 201) throw new Error(`Swift did not take ${key}: ${status}`)
}

const inPath = (key: string) => key.split('/').map(encodeURIComponent).join('/')

function userWith(secretAccessKey: string, fields: object = { endpoint: swift().url }): Promise<ShellUser> {
  const { accessKeyId } = swift().keys
  return shellUser((keep) => [
    {
      id: 'store',
      type: 's3',
      accessKeyId: keep(accessKeyId),
      secretAccessKey: keep(secretAccessKey),
      region: 'us-east-1',
      sendTo: [`s3://${swift().bucket}/`],
      ...fields,
    },
  ])
}

const put = (user: ShellUser, key: string) =>
  user.put('item.json', item({ k: { type: 's3' } }, { data: asset(`s3://${swift().bucket}/${inPath(key)}`) }))
const curl = async (user: ShellUser, path: string, ...more: readonly string[]) => {
  const { code, stdout } = await user.sh(
    'stac-auth authorize "$@" --as curl --reveal >command && sh command',
    path,
    '--asset',
    'data',
    ...more,
  )
  return code === 0 ? stdout : `${code}`
}

describe.each(KEYS)('OpenStack Swift gives %s', (key) => {
  it('GDAL reads the object with keys and with a presigned URL', async () => {
    const user = await userWith(swift().keys.secretAccessKey)
    const path = await put(user, key)
    expect(await readWithGdal(user, path)).toBe(sha256(IMAGE.pixels))
    expect(await readWithGdal(user, path, '--expires', '60')).toBe(sha256(IMAGE.pixels))
  })

  it('GDAL reads the object with the bucket in the host name', async () => {
    const host = swift().virtualHost.replace(`${swift().bucket}.`, '')
    const user = await userWith(swift().keys.secretAccessKey, { endpoint: `http://${host}`, virtualHost: true })
    expect(await readWithGdal(user, await put(user, key))).toBe(sha256(IMAGE.pixels))
  })

  it('rclone copies the object with keys, by the command in its configuration', async () => {
    const user = await userWith(swift().keys.secretAccessKey)
    const path = await put(user, key)
    const { stdout, stderr } = await user.sh(
      `stac-auth authorize "$1" --asset data --as rclone --reveal >rc.conf &&
      eval "$(sed -n '1{s/^# //; s/ FILE / rc.conf /; s/ NAME$/ got/; p}' rc.conf)" && cat got`,
      path,
    )
    expect([stderr, stdout]).toEqual(['', FILE])
  })

  it('curl reads the object with headers and with a presigned URL', async () => {
    const user = await userWith(swift().keys.secretAccessKey)
    const path = await put(user, key)
    expect(await curl(user, path)).toEqual(FILE)
    expect(await curl(user, path, '--expires', '60')).toEqual(FILE)
  })
})

describe('OpenStack Swift refuses wrong secrets', () => {
  it('OpenStack Swift refuses wrong secrets to GDAL and curl', async () => {
    const user = await userWith('wrong')
    await user.put('.curlrc', 'silent\nfail\n')
    const path = await put(user, 'plain.tif')
    expect(await readWithGdal(user, path)).toMatch(/^ERROR/m)
    expect(await readWithGdal(user, path, '--expires', '60')).toMatch(/HTTP response code: 403/)
    expect([await curl(user, path), await curl(user, path, '--expires', '60')]).toEqual(['22', '22'])
  })
})
