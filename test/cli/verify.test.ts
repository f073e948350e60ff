import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { downloaded, eventsIn, itemOf, startArchive, TOKEN, tokenFor } from './download/fixture.ts'
import { temporaryFolder } from './folder.ts'
import { run } from './run.ts'

const server = await startArchive()
beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_TOKEN', TOKEN))
afterEach(() => vi.unstubAllEnvs())

const names = ['a-500.tif', 'b-700.tif']
const assets = Object.fromEntries(names.map((name) => [name, { href: `${server.origin}/private/${name}`, 'auth:refs': ['token'] }]))
const stdin = JSON.stringify(itemOf('x', assets))

/** A look at one byte names no version: nothing is put together from it. */
const allowed = () => (server.violations as string[]).splice(0)

describe('verify', () => {
  it('compares a folder with its manifest', async () => {
    const { folder } = await downloaded(server, ['-'], { stdin })
    expect(await run(['verify', folder])).toMatchObject({ code: 0, stdout: '2 of 2 files verified\n', stderr: '' })
    await truncate(join(folder, 'x/a-500.tif'), 10)
    const { code, stdout } = await run(['verify', folder])
    expect([code, stdout]).toEqual([
      6,
      'x x/a-500.tif  FILE_INTEGRITY: "x/a-500.tif" has 10 bytes and had 500 when it was downloaded\n1 of 2 files verified, 1 failed\n',
    ])
    const events = eventsIn(await run(['verify', folder, '--json']))
    expect(events.toSorted((one, other) => String(one.path).localeCompare(String(other.path)))).toMatchObject([
      { kind: 'summary', files: 2, verified: 1, failed: 1, unasked: 0 },
      { kind: 'failed', path: 'x/a-500.tif', error: { code: 'FILE_INTEGRITY' } },
      { kind: 'verified', path: 'x/b-700.tif', bytes: 700, verified: ['manifest'] },
    ])
  })

  it('reads the manifest that download was told to write', async () => {
    const manifest = join(await temporaryFolder(), 'm.ndjson')
    const { folder, code } = await downloaded(server, ['-', '--manifest', manifest], { stdin })
    expect([code, (await run(['verify', folder, '--manifest', manifest])).stdout]).toEqual([0, '2 of 2 files verified\n'])
  })

  it('does not ask to create a folder that does not exist', async () => {
    const { code, stderr } = await run(['verify', join(await temporaryFolder(), 'missing')])
    expect([code, stderr]).toEqual([
      6,
      expect.stringMatching(/^error FILE_ACCESS: .*missing" does not exist\n {2}check its name: it is the folder of a download\n$/),
    ])
  })

  it('ends in 6 without a manifest, and reports where one comes from', async () => {
    const { code, stderr } = await run(['verify', await temporaryFolder()])
    expect([code, stderr]).toEqual([6, expect.stringMatching(/^error FILE_ACCESS: .*\n {2}stac-auth download writes a manifest/)])
  })

  it('asks servers with --remote, and reports a missing credential by its exit code', async () => {
    const { folder } = await downloaded(server, ['-'], { stdin })
    const credentials = await tokenFor(server, await temporaryFolder())
    const asked = await run(['verify', folder, '--remote', '--credentials', credentials, '--json'])
    allowed()
    expect(eventsIn(asked)).toMatchObject([{ verified: ['manifest', 'server'] }, { verified: ['manifest', 'server'] }, { kind: 'summary' }])
    vi.stubEnv('STAC_AUTH_TEST_TOKEN', 'wrong-wrong-wrong')
    const refused = await run(['verify', folder, '--remote', '--credentials', credentials])
    allowed()
    expect([refused.code, refused.stdout]).toEqual([3, expect.stringContaining('AUTH_REJECTED')])
    expect(refused.stdout + refused.stderr).not.toContain('wrong-wrong')
  })
})
