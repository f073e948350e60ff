/** The manual pages, read by the formatters of two systems. */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Peer, startPeer } from './peer.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = `${root}dist/man/`
let formatters: Peer<object> | undefined

beforeAll(async () => {
  formatters = await startPeer('shells')
}, 300_000)
afterAll(async () => {
  if (formatters && 'stop' in formatters) await formatters.stop()
})
beforeEach(({ skip }) => {
  if (formatters && 'missing' in formatters) skip(formatters.missing)
})

describe.each(readdirSync(folder))('%s', (name) => {
  it('is accepted without a warning', async () => {
    const page = `${folder}${name}`
    expect((await run('mandoc', ['-T', 'lint', '-W', 'warning', page])).stdout).toBe('')
    expect(await run('groff', ['-man', '-Tutf8', '-ww', '-z', page])).toEqual({ stdout: '', stderr: '' })
  })
})

describe('stac-auth-authorize.1', () => {
  it('has its options, and examples that can be copied', async () => {
    const { stdout } = await run('mandoc', ['-T', 'utf8', '-O', 'width=100', `${folder}stac-auth-authorize.1`])
    const plain = stdout.replace(/.\x08/g, '')
    expect(plain).toContain('--alternate <key/name>')
    expect(plain).toContain('stac-auth authorize item.json --asset B04 --as curl --reveal | sh > B04.tif\n')
  })
})
