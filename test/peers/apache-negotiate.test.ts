import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { installInto, packInto } from '../../scripts/package.ts'
import { itemWith } from '../cli/items.ts'
import { type Peer, startPeer } from './peer.ts'

/** A realm of Kerberos, with a client's configuration (`KRB5_CONFIG`) and the values of `KRB5CCNAME`. */
interface Realm {
  readonly name: string
  readonly config: string
  readonly caches: Readonly<Record<'good' | 'expired' | 'none', string>>
}

interface Apache {
  readonly url: string
  /** A folder in which the package `kerberos` is installed. */
  readonly client: string
  /** A line for each request: status, path, user, `Authorization`. */
  readonly log: string
  /** By whose KDC it is. */
  readonly realms: Readonly<Record<'MIT' | 'Heimdal', Realm>>
}

const run = promisify(execFile)
let peer: Peer<Apache> | undefined
let apache: Apache

beforeAll(async () => {
  peer = await startPeer<Apache>('apache-negotiate')
  if (!('facts' in peer)) return
  apache = peer.facts
  const { client: cwd } = apache
  const { tarball } = await packInto(cwd)
  await installInto(cwd, [tarball])
}, 200_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

interface Circumstances {
  readonly kdc?: keyof Apache['realms']
  readonly cache?: keyof Realm['caches']
  readonly origin?: string
  readonly entry?: Readonly<Record<string, unknown>>
}

/** What the installed command does with a file of the server, and what the server saw of it. */
async function fetchFile(folder: string, { kdc = 'MIT', cache = 'good', origin = apache.url, entry = {} }: Circumstances = {}) {
  const { client: cwd, realms, log } = apache
  const { config, caches } = realms[kdc]
  const item = itemWith(
    { file: { href: `${origin}/${folder}/f.txt`, 'auth:refs': ['k'] } },
    { schemes: { k: { type: 'http', scheme: 'Negotiate' } } },
  )
  const sendTo = [`${origin}/`]
  const credentials = [
    { id: 'sso', type: 'http', scheme: 'negotiate', sendTo, ...entry },
    { id: 'password', type: 'http', scheme: 'basic', username: 'alice', password: { env: 'PEER_PASSWORD' }, sendTo },
  ]
  await writeFile(join(cwd, 'item.json'), JSON.stringify(item))
  await writeFile(join(cwd, 'credentials.json'), JSON.stringify({ version: 1, credentials }), { mode: 0o600 })
  const before = await linesOf(log)
  const env = { PATH: process.env.PATH, HOME: cwd, PEER_PASSWORD: 'secret', KRB5_CONFIG: config, KRB5CCNAME: caches[cache] }
  const command = ['node_modules/stac-auth/dist/cli/bin.js', 'fetch', 'item.json', '--asset', 'file', '--credentials', 'credentials.json']
  const outcome = await run(process.execPath, command, { cwd, env, timeout: 15_000 }).then(
    (said) => ({ ...said, code: 0 }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
  return { ...outcome, seen: (await linesOf(log)).slice(before.length) }
}

async function linesOf(file: string): Promise<readonly string[]> {
  return (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(0, -1)
}

describe.each(['MIT', 'Heimdal'] as const)('Apache and %s Kerberos', (kdc) => {
  const alice = () => `alice@${apache.realms[kdc].name}`

  it('return a file for a ticket, and the server authenticates itself', async () => {
    const { code, stdout, stderr, seen } = await fetchFile('files', { kdc })
    expect([code, stdout], stderr).toEqual([0, 'hello from files\n'])
    expect(seen).toEqual([expect.stringContaining(`200 /files/f.txt ${alice()} Negotiate YII`)])
  })

  it('accept the principal that the credential names', async () => {
    expect(await fetchFile('files', { kdc, entry: { principal: 'alice' } })).toMatchObject({ code: 0 })
    const { code, stderr, seen } = await fetchFile('files', { kdc, entry: { principal: 'bob' } })
    expect([code, stderr, seen]).toEqual([3, expect.stringContaining('LOGIN_REQUIRED'), []])
    expect(stderr).toContain('there is no Kerberos ticket of bob')
  })

  it.each([
    ['none', 'there is no Kerberos ticket'],
    ['expired', 'the Kerberos ticket has expired'],
  ] as const)('receive nothing when the ticket is %s, and no password instead', async (cache, message) => {
    for (const folder of ['files', 'either']) {
      const { code, stdout, stderr, seen } = await fetchFile(folder, { kdc, cache })
      expect([code, stdout, seen]).toEqual([3, '', []])
      expect(stderr).toContain(`LOGIN_REQUIRED: ${message}`)
      expect(stderr).toContain('kinit')
    }
  })

  it('take the ticket where a password would do as well', async () => {
    const { code, stdout, seen } = await fetchFile('either', { kdc })
    expect([code, stdout]).toEqual([0, 'hello from either\n'])
    expect(seen).toEqual([expect.stringContaining(`200 /either/f.txt ${alice()} Negotiate `)])
  })

  it('know no service by another name of the host', async () => {
    const { code, stderr, seen } = await fetchFile('files', { kdc, origin: apache.url.replace('localhost', '127.0.0.1') })
    expect([code, seen]).toEqual([3, []])
    expect(stderr).toContain('CREDENTIAL_SOURCE: the Kerberos realm does not know the service HTTP@127.0.0.1')
  })

  it('refuse a ticket for a key that the service does not have', async () => {
    const { code, stdout, stderr, seen } = await fetchFile('rekeyed', { kdc })
    expect([code, stdout, seen.length]).toEqual([3, '', 1])
    expect(stderr).toContain('AUTH_REJECTED')
  })
})

describe('someone in the place of Apache', () => {
  const servers: ReturnType<typeof createServer>[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections()
  })

  async function impostor(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1')
    servers.push(server)
    await new Promise((resolve) => server.once('listening', resolve))
    return `http://localhost:${(server.address() as AddressInfo).port}`
  }

  it('an impostor cannot serve a file without a proof', async () => {
    const origin = await impostor((_request, response) => response.end('false'))
    const { code, stdout, stderr } = await fetchFile('files', { origin })
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain('AUTH_SERVER_UNPROVEN')
  })

  it('an impostor cannot reuse a proof for another request', async () => {
    let proof = ''
    const origin = await impostor(async ({ headers }, response) => {
      if (proof === '') {
        const { authorization = '' } = headers
        proof = (await fetch(`${apache.url}/files/f.txt`, { headers: { authorization } })).headers.get('www-authenticate') ?? ''
        response.writeHead(503).end()
      } else response.writeHead(200, { 'www-authenticate': proof }).end('false')
    })
    await fetchFile('files', { origin })
    expect(proof).toMatch(/^Negotiate oY/)
    const { code, stdout, stderr } = await fetchFile('files', { origin })
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain('sends a wrong proof')
  })
})

it('Apache refuses junk', async () => {
  const { status, headers } = await fetch(`${apache.url}/files/f.txt`, { headers: { authorization: 'Negotiate YWJjZA==' } })
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Negotiate'])
})
