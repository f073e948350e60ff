import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { credentialsFor } from '../../examples/demo/credentials.ts'
import type { Holding } from '../../examples/demo/holdings.ts'
import { randomSecrets, type Secrets, wrongSecrets } from '../../examples/demo/secrets.ts'
import { type Servers, startServers } from '../../examples/demo/servers.ts'
import { asset, item, scheme } from '../harness/documents.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { sha256 } from './gdal-reader.ts'
import { type Peer, startPeer } from './peer.ts'
import { type ShellUser, shellUser } from './shell-user.ts'

interface Lighttpd {
  readonly url: string
  /** Name → password. */
  readonly users: Readonly<Record<string, string>>
}

/** The printed command as it stands. */
const RUN = 'stac-auth authorize "$@" --as curl --reveal >command && sh command'

let curl: Peer<object> | undefined
let server: Peer<Lighttpd> | undefined
let lighttpd: Lighttpd
let servers: Servers
let echo: AnsweringServer
const secrets = randomSecrets()

beforeAll(async () => {
  curl = await startPeer('curl')
  server = await startPeer<Lighttpd>('lighttpd')
  if ('facts' in server) lighttpd = server.facts
  servers = await startServers(secrets)
  echo = await startAnswering(({ target }) => ({ status: 200, body: target }))
}, 150_000)
afterAll(async () => {
  await Promise.all([servers?.close(), echo?.close()])
  for (const peer of [curl, server]) if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  for (const peer of [curl, server]) if (peer && 'missing' in peer) skip(peer.missing)
})

/** Somebody whose curl shows no progress, and ends with 22 where a server says no. */
async function curlUser(entriesWith: Parameters<typeof shellUser>[0]): Promise<ShellUser> {
  const user = await shellUser(entriesWith)
  await user.put('.curlrc', 'silent\nfail\n')
  return user
}

const demoUser = (known: Secrets) => curlUser((keep) => credentialsFor(servers.addresses, (name) => keep(known[name])))
const handedOut = () => servers.holdings.filter(({ bound }) => !bound)
const run = (user: ShellUser, { name }: Holding) => user.sh(RUN, new URL(`items/${name}.json`, servers.root).href, '--asset', 'data')

describe('the printed curl command', () => {
  it('gets every file of the demo that can be returned', async () => {
    const user = await demoUser(secrets)
    const got: Record<string, string> = {}
    for (const holding of handedOut()) {
      const { code, stdout, stderr } = await run(user, holding)
      got[holding.name] = code === 0 ? sha256(stdout) : stderr
    }
    expect(got).toEqual(Object.fromEntries(handedOut().map(({ name, href }) => [name, servers.digestAt(href)])))
    expect(handedOut().length).toBeGreaterThan(15)
  }, 120_000)

  it('gets none of them with wrong secrets', async () => {
    const user = await demoUser(wrongSecrets(secrets))
    for (const holding of handedOut()) {
      const { code, stdout } = await run(user, holding)
      expect([holding.name, stdout.length, code]).toEqual([holding.name, 0, expect.toSatisfy((exit) => exit !== 0)])
    }
  }, 120_000)

  it('gets a file of lighttpd, for the users and passwords that it knows', async () => {
    const href = `${lighttpd.url}/basic/f.txt`
    for (const [username, password] of [...Object.entries(lighttpd.users), ['alice', 'wrong'] as const]) {
      const user = await curlUser((keep) => [{ ...scheme.basic, id: 'mine', username, password: keep(password), sendTo: [href] }])
      const { code, stdout } = await user.sh(
        RUN,
        await user.put('item.json', item({ k: scheme.basic }, { data: asset(href) })),
        '--asset',
        'data',
      )
      expect([code, stdout.toString()]).toEqual(password === 'wrong' ? [22, ''] : [0, 'hello from basic\n'])
    }
  })

  it.each([
    "$(touch$IFS./pwned)'`touch$IFS./pwned`",
    "';touch$IFS./pwned;'",
    '[1-3]{a,b}?x=[1-3]&y={a,b}',
    "-o%20pwned%0A'%0A--output=pwned",
    '?a=$(touch$IFS./pwned)&b=`touch$IFS./pwned`;touch$IFS./pwned',
  ])('requests %j and does nothing else', async (name) => {
    const href = `${echo.origin}/${name}`
    const key = { type: 'apiKey', in: 'header', name: "X-'`|!#$%&*+-.^~" }
    const value = `'$(touch pwned)'"\\ @/etc/hostname`
    const user = await curlUser((keep) => [{ ...key, id: 'mine', value: keep(value), sendTo: [`${echo.origin}/`] }])
    const { stdout, stderr } = await user.sh(RUN, await user.put('item.json', item({ k: key }, { data: asset(href) })), '--asset', 'data')
    const { pathname, search } = new URL(href)
    expect([stderr, stdout.toString()]).toEqual(['', pathname + search])
    expect(echo.exchanges.at(-1)?.request.headers[key.name.toLowerCase()]).toBe(value)
    expect((await user.sh('test ! -e pwned')).code).toBe(0)
  })
})
