import { readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addCredential } from '../../src/cli/credentials/edit-credentials.ts'
import { tryLock } from '../../src/node/base/process-lock.ts'
import { put, temporaryFolder } from './folder.ts'
import { keyFor } from './items.ts'
import { run, type Surroundings } from './run.ts'

const folder = await temporaryFolder()
const env = { NO_COLOR: '1' }
const terminal = (stdin: string): Surroundings => ({ isTTY: true, stdin, env })

describe('credentials trust', () => {
  const trust = (file: string, pattern: string, around: Surroundings, id = 'portal') =>
    run(['credentials', 'trust', id, pattern, '--credentials', file], around)

  it('asks, then adds the URL', async () => {
    const file = await put(folder, 'trust.json', keyFor('https://data.example/'))
    const { code, stdout, stderr } = await trust(file, 'https://*.b\u00fccher.example/', terminal('d\ny\n'))
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toContain('"portal" (API key, header x-api-key) is sent to\n  now    https://data.example/\n')
    expect(stderr).toContain('  added  https://*.xn--bcher-kva.example/ (b\u00fccher.example)\n')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(keyFor('https://data.example/', 'https://*.b\u00fccher.example/'))
    expect(await trust(file, 'https://data.example/', terminal(''))).toMatchObject({ code: 0, stderr: expect.stringContaining('already') })
  })

  it.each([
    ['a no', terminal('n\n'), 4],
    ['no terminal', { stdin: 'y\n' }, 4],
    ['the end of the input', terminal(''), 130],
  ])('changes nothing after %s', async (_name, around, code) => {
    const file = await put(folder, 'no.json', keyFor('https://data.example/'))
    const outcome = await trust(file, 'https://evil.example/', around)
    expect(outcome.code).toBe(code)
    if (code === 4) expect(outcome.stderr).toContain('"sendTo": ["https://data.example/","https://evil.example/"]')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(keyFor('https://data.example/'))
  })

  it.each([
    ['*', 'portal', 2],
    ['https://*.github.io/', 'portal', 2],
    ['http://data.example/', 'portal', 2],
    ['https://evil.example/', 'nobody', 3],
  ])('refuses %s for %s without a question', async (pattern, id, code) => {
    const file = await put(folder, 'refused.json', keyFor('https://data.example/'))
    const outcome = await trust(file, pattern, terminal('y\n'), id)
    expect([outcome.code, outcome.stderr]).toEqual([code, expect.not.stringContaining('[y]es')])
  })

  it('reports where the credential of the environment is widened', async () => {
    const file = await put(folder, 'environment.json', keyFor('https://data.example/'))
    const around = { ...terminal('y\n'), env: { ...env, STAC_AUTH_TOKEN: 'canary' } }
    const outcome = await trust(file, 'https://b.example/', around, 'env')
    expect(outcome).toMatchObject({
      code: 3,
      stderr:
        'error NO_CREDENTIAL: the credential "env" is STAC_AUTH_TOKEN and is not in a file\n  add https://b.example/ to STAC_AUTH_TOKEN_FOR, separated by a space\n',
    })
  })

  it('keeps what a signing credential could reach by default', async () => {
    const signer = {
      id: 'signer',
      type: 'signedUrl',
      authorizationApi: 'https://sign.example/sign',
      method: 'GET',
      signedUrlHosts: ['https://store.example/'],
    }
    const file = await put(folder, 'signer.json', { version: 1, credentials: [signer] })
    await trust(file, 'https://data.example/', terminal('y\n'), 'signer')
    expect(JSON.parse(await readFile(file, 'utf8')).credentials[0].sendTo).toEqual(['https://store.example/', 'https://data.example/'])
  })

  it('writes through a link, leaves no partial file, and minds one that is there', async () => {
    const file = await put(folder, 'linked.json', keyFor('https://data.example/'))
    const link = join(folder, 'link.json')
    await symlink(file, link)
    await trust(link, 'https://more.example/', terminal('y\n'))
    expect(await readFile(file, 'utf8')).toContain('more.example')
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
    await put(folder, 'linked.json.part', '')
    expect(await trust(file, 'https://again.example/', terminal('y\n'))).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('PATH_BUSY'),
    })
    expect(await readFile(file, 'utf8')).not.toContain('again.example')
  })

  it('waits for another command that is writing the file', async () => {
    const file = await put(folder, 'busy.json', keyFor('https://data.example/'))
    const lease = await tryLock(`${file}.part.lock`)
    setTimeout(() => void lease?.release(), 200)
    expect(await trust(file, 'https://more.example/', terminal('y\n'))).toMatchObject({ code: 0 })
    expect(await readFile(file, 'utf8')).toContain('more.example')
  })

  it('names a credential that another command has added meanwhile', async () => {
    const file = await put(folder, 'twice.json', keyFor('https://data.example/'))
    const [present] = JSON.parse(await readFile(file, 'utf8')).credentials
    await expect(addCredential(file, present)).rejects.toThrow(`${file} already has a credential "portal"`)
  })

  it('touches no file that others can write', async () => {
    const file = await put(folder, 'open.json', keyFor('https://data.example/'))
    await (await import('node:fs/promises')).chmod(file, 0o666)
    expect(await trust(file, 'https://more.example/', terminal('y\n'))).toMatchObject({ code: 2 })
  })
})

describe('credentials add --file', () => {
  const token = { id: 't', type: 'http', scheme: 'bearer', token: { env: 'TOKEN' }, sendTo: ['https://data.example/'] }
  const add = async (entry: unknown, around: Surroundings) => {
    const file = join(folder, 'own', 'credentials.json')
    return {
      ...(await run(['credentials', 'add', '--file', await put(folder, 'entry.json', entry), '--credentials', file], around)),
      file,
    }
  }

  it('asks about a credential of the user, too', async () => {
    const { code, stderr, file } = await add(token, terminal('y\n'))
    expect([code, stderr]).toEqual([
      0,
      `you add "t" (HTTP, bearer)\n  secret goes to   https://data.example/\nCreate this credential?  [y]es / [N]o / [d]etails credential "t" is written to ${file}\n`,
    ])
    expect(JSON.parse(await readFile(file, 'utf8')).credentials).toEqual([token])
    expect(await add(token, terminal('y\n'))).toMatchObject({ code: 2, stderr: expect.stringContaining('is used twice: "t"') })
  })

  it('reports what to write where no one can be asked', async () => {
    const { code, stderr } = await add({ ...token, id: 'other' }, {})
    expect([code, stderr]).toEqual([3, expect.stringContaining(JSON.stringify({ ...token, id: 'other' }))])
  })

  it.each([
    [{ ...token, token: 'hunter2' }],
    [{ ...token, sendTo: ['*'], token: { env: 'T' } }],
    [{ ...token, more: 1 }],
    [['hunter2']],
    ['{ "hunter2'],
  ])('refuses %j without repeating it', async (entry) => {
    const { code, stderr } = await add(entry, terminal('y\n'))
    expect([code, stderr]).toEqual([2, expect.not.stringContaining('hunter2')])
    expect(stderr).not.toContain('[y]es')
  })

  it('needs a document or a credential', async () => {
    expect(await run(['credentials', 'add'])).toMatchObject({ code: 2 })
    expect(await run(['credentials', 'add', 'x.json', '--file', 'y.json'])).toMatchObject({ code: 2 })
  })
})
