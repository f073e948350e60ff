import { chmod, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tokenFiles } from '../../src/node/tokens/token-files.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { leaks, shown } from '../harness/canary.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { DATA, entries, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const base = await temporaryFolder()
const wanted = target(scheme.client(TOKEN_URL), `${DATA}f.tif`)

/** An engine as in another process: it shares nothing but the folder. */
const engine = (folder: string) => victim({ credentials: entries.oauth, session: tokenFiles({ folder }) })

describe('engines that share files of tokens', () => {
  it('engines that share token files request one token between them, and hold its secrets nowhere else', async () => {
    const folder = join(base, 'shared')
    const engines = Array.from({ length: 5 }, () => engine(folder))
    const requests = await Promise.all(engines.map(({ auth }) => auth.authorize(wanted)))
    for (const { headers } of requests) expect(headers.authorization).toBe(`Bearer ${secrets.token.value}`)
    expect(engines.map(({ script }) => script.sent.length).sort()).toEqual([0, 0, 0, 0, 1])
    const [name = '', ...others] = await readdir(folder)
    expect([name, ...others]).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)])
    expect(leaks([secrets.token, secrets.client], { name, engines: shown(engines.map(({ auth }) => auth)) })).toEqual([])
    expect(leaks([secrets.client], { file: await readFile(join(folder, name), 'utf8') })).toEqual([])
  })

  it('engines that share files of tokens use no token that others could have put there', async () => {
    const folder = join(base, 'open')
    await engine(folder).auth.authorize(wanted)
    const [name = ''] = await readdir(folder)
    await chmod(join(folder, name), 0o666)
    const { auth, script } = engine(folder)
    const error = await failureOf(auth.fetch(wanted))
    expect(error).toMatchObject({ code: 'CACHE_UNSAFE', hint: expect.stringContaining('chmod 600') })
    expect(script.sent).toEqual([])
    expect(leaks([secrets.token, secrets.client], { error: shown(error) })).toEqual([])
  })
})
