import { chmod, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { createGateway, type GatewayOptions } from '../../../src/node/gateway/gateway.ts'
import { temporaryFolder } from '../../cli/folder.ts'

let folder = ''
beforeEach(async () => {
  folder = await temporaryFolder()
  vi.stubEnv('XDG_CONFIG_HOME', folder)
})
afterEach(() => vi.unstubAllEnvs())

const open = async (options: GatewayOptions) => {
  const gateway = await createGateway(createAuth({ credentials: [] }), options)
  onTestFinished(() => gateway.close())
  return gateway
}
const place = (name = 'work') => join(folder, 'stac-auth/gateways', `${name}.json`)

describe('a gateway with a name', () => {
  it('has the same URLs after a restart, and others under another name', async () => {
    const first = await open({ name: 'work' })
    const other = await open({ name: 'home' })
    expect(other.base.slice(-33)).not.toBe(first.base.slice(-33))
    await first.close()
    const second = await open({ name: 'work' })
    expect(second.base).toBe(first.base)
    expect((await fetch(second.urlFor('https://data.example/x'))).status).toBe(403)
    expect((await fetch(second.base.replace(/[0-9a-f]{32}/, '0'.repeat(32)))).status).toBe(404)
  })

  it('keeps its place in a file and a folder that only the user can open', async () => {
    const { base } = await open({ name: 'work' })
    const { mode } = await stat(place())
    const { mode: above } = await stat(join(folder, 'stac-auth/gateways'))
    expect([mode & 0o777, above & 0o777]).toEqual([0o600, 0o700])
    const { port, capability } = JSON.parse(await readFile(place(), 'utf8'))
    expect(base).toBe(`http://127.0.0.1:${port}/${capability}/`)
  })

  it('moves to another port where one is named, with the same secret part', async () => {
    const first = await open({ name: 'work' })
    await first.close()
    const probe = createServer()
    const port = await new Promise<number>((resolve) => {
      probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port))
    })
    await new Promise((resolve) => probe.close(resolve))
    const second = await open({ name: 'work', port })
    expect(second.base).toBe(first.base.replace(/:\d+/, `:${port}`))
    await second.close()
    expect((await open({ name: 'work' })).base).toBe(second.base)
  })

  it('starts only once at a time', async () => {
    await open({ name: 'work' })
    await expect(open({ name: 'work' })).rejects.toMatchObject({ code: 'NETWORK_LISTEN' })
  })

  it('uses no file that others can read, no link and no damaged file', async () => {
    await (await open({ name: 'work' })).close()
    await chmod(place(), 0o640)
    await expect(open({ name: 'work' })).rejects.toMatchObject({ code: 'CACHE_UNSAFE', hint: `chmod 600 '${place()}'` })
    await symlink(place(), place('link'))
    await expect(open({ name: 'link' })).rejects.toMatchObject({ code: 'CACHE_UNSAFE' })
    for (const text of ['', '{', '[]', '{"port":0,"capability":"00000000000000000000000000000000"}', '{"port":8080,"capability":"0"}']) {
      await writeFile(place('damaged'), text, { mode: 0o600 })
      await expect(open({ name: 'damaged' })).rejects.toMatchObject({ code: 'CACHE_UNSAFE', message: expect.stringContaining('damaged') })
    }
  })

  it('has a name that is a file name, and a folder for it', async () => {
    for (const name of ['', '../x', 'a/b', '.x', 'a b', 'x'.repeat(65)])
      await expect(open({ name })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(open({ name: 'work', listen: { path: join(folder, 'socket') } })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    vi.stubEnv('XDG_CONFIG_HOME', join(folder, 'file'))
    await writeFile(join(folder, 'file'), '')
    await expect(open({ name: 'work' })).rejects.toMatchObject({ code: 'FILE_ACCESS' })
  })
})
