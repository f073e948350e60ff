import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, KEY_SCHEME, keyFor } from './items.ts'
import { run } from './run.ts'
import { fourFiles, itemOf, newUser } from './setup-user.ts'

const SECRET = 'hunter2-hunter2'
const folder = await temporaryFolder()
const store = {
  id: 'store',
  type: 's3',
  accessKeyId: { env: 'STAC_AUTH_TEST_KEY' },
  secretAccessKey: { env: 'STAC_AUTH_TEST_KEY' },
  endpoint: 'https://s3.example/',
  region: 'eu-1',
  sendTo: ['s3://eo/'],
}
const key = { ...keyFor('https://data.example/') } as { credentials: object[] }
const token = { id: 'token', type: 'http', scheme: 'bearer', token: { env: 'STAC_AUTH_TEST_KEY' }, sendTo: ['https://data.example/'] }
const credentials = await put(folder, 'credentials.json', { version: 1, credentials: [store, token, ...key.credentials] })
const item = await put(
  folder,
  'item.json',
  itemWith(
    {
      band: { href: 's3://eo/a.tif', 'auth:refs': ['s3'] },
      web: { href: 'https://data.example/a.tif', 'auth:refs': ['key'] },
      token: { href: 'https://data.example/a.tif', 'auth:refs': ['token'] },
    },
    { schemes: { s3: { type: 's3' }, key: KEY_SCHEME, token: { type: 'http', scheme: 'bearer' } } },
  ),
)

const authorize = (asset: string, ...argv: string[]) => run(['authorize', item, '--credentials', credentials, '--asset', asset, ...argv])
const settings = (text: string) =>
  Object.fromEntries(
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/=(.*)/s)),
  )

beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', SECRET))
afterEach(() => vi.unstubAllEnvs())

describe('authorize --as gdal', () => {
  it('prints the keys of an object store, hidden unless asked to reveal them', async () => {
    const hidden = await authorize('band', '--as', 'gdal')
    expect(settings(hidden.stdout)).toMatchObject({
      AWS_ACCESS_KEY_ID: '[secret]',
      AWS_SECRET_ACCESS_KEY: '[secret]',
      AWS_SESSION_TOKEN: '',
    })
    expect([hidden.code, hidden.stderr]).toEqual([0, 'secrets are hidden: --reveal shows them\n'])
    const revealed = await authorize('band', '--as', 'gdal', '--reveal')
    expect(settings(revealed.stdout)).toMatchObject({
      AWS_ACCESS_KEY_ID: SECRET,
      AWS_SECRET_ACCESS_KEY: SECRET,
      GDAL_PATH: '/vsis3/eo/a.tif',
    })
    expect(revealed.stderr).toBe('')
  })

  it('prints a URL that opens by itself, and no key, with --expires', async () => {
    const { stdout } = await authorize('band', '--as', 'gdal', '--reveal', '--expires', '60')
    expect(stdout).not.toMatch(/^AWS_(?:ACCESS|SECRET|SESSION)/m)
    expect(settings(stdout).GDAL_PATH).toMatch(/^\/vsicurl\/https:\/\/s3\.example\/eo\/a\.tif\?.*X-Amz-Expires=60&/)
    expect((await authorize('band', '--as', 'gdal', '--expires', '60')).stdout).not.toMatch(/Signature=[^…]/)
  })

  it('warns of a header that GDAL would take along to another host', async () => {
    const { stderr } = await authorize('web', '--as', 'gdal', '--reveal')
    expect(stderr).toMatch(/^GDAL sends x-api-key after redirects too, also to other hosts\n/)
  })

  it('warns that rclone keeps Authorization for hosts below the same name', async () => {
    const { stderr } = await authorize('token', '--as', 'rclone', '--reveal')
    expect(stderr).toBe('rclone sends authorization after redirects to hosts below data.example too\n')
  })

  it('warns of a header that GDAL sends to the hosts that a file names', async () => {
    const { stderr } = await authorize('web', '--as', 'gdal', '--reveal')
    expect(stderr).toMatch(/\nGDAL sends x-api-key to other hosts if the file names them, as a VRT can: use stac-auth run\n$/)
  })
})

describe('authorize --expires', () => {
  it.each(['curl', 'http', 'json'])('authorize --expires as %s signs the URL instead of headers', async (form) => {
    const { code, stdout } = await authorize('band', '--as', form, '--reveal', '--expires', '60')
    expect([code, /X-Amz-Expires=60/.test(stdout), /authorization/i.test(stdout)]).toEqual([0, true, false])
    expect((await authorize('band', '--as', form, '--reveal')).stdout).toMatch(/authorization/)
  })

  it('authorize --expires is an hour where a URL is requested', async () => {
    expect((await authorize('band', '--as', 'url', '--reveal')).stdout).toContain('X-Amz-Expires=3600&')
  })

  it('says that GDAL sends more requests than a Digest authorizes', async () => {
    const server = await fourFiles()
    const user = await newUser({
      id: 'digest',
      type: 'http',
      scheme: 'digest',
      username: 'ada',
      password: { env: 'STAC_AUTH_TEST_KEY' },
      sendTo: [`${server.origin}/`],
    })
    const told = async (form: string) =>
      (await user.at(['authorize', await itemOf(server, ['digest']), '--asset', 'digest', '--as', form])).stderr
    expect(await told('gdal')).toMatch(
      /^Digest authorizes one request, and GDAL sends several for a file: use stac-auth run, fetch or download\n/,
    )
    expect(await told('curl')).not.toContain('one request')
  })
})
