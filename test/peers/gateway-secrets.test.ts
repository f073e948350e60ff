import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canary, canaryOf, leaks } from '../harness/canary.ts'
import { type GatewayArchive, startGatewayArchive } from './gateway-archive.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import { type Peer, startPeer } from './peer.ts'
import type { ShellUser } from './shell-user.ts'

let clients: Peer<object> | undefined
let archive: GatewayArchive
let user: ShellUser
const items = () => archive.servers.holdings.map(({ name }) => new URL(`items/${name}.json`, archive.servers.root).href)

beforeAll(async () => {
  clients = await startPeer('http-clients')
  archive = await startGatewayArchive()
  user = await archive.user()
}, 150_000)
afterAll(async () => {
  await archive?.close()
  if (clients && 'stop' in clients) await clients.stop()
})
beforeEach(({ skip }) => {
  if (clients && 'missing' in clients) skip(clients.missing)
})

/** All secrets of the user that are text; keys are longer than a line, so the longest line of each stands for it. */
function canaries() {
  return Object.values(archive.secrets).map((secret) =>
    canaryOf(secret.split('\n').sort((one, other) => other.length - one.length)[0] ?? secret),
  )
}

describe('no secret that was used', () => {
  it('is in what programs receive, nor in what the gateway prints', async () => {
    const gateway: GatewayProcess = await startGatewayProcess(user, ...items())
    const texts: Record<string, string> = {}
    try {
      expect(gateway.targets).toHaveLength(archive.servers.holdings.length)
      for (const { document, url } of gateway.targets) {
        const { stdout } = await user.sh(
          'curl -sSi "$1" -r 0-99; curl -sSiI "$1"; curl -sSi "$1-missing"; curl -sSi "$1?a=b" -o - | head -c 2000',
          url,
        )
        texts[document] = stdout.toString('latin1')
        expect([document, texts[document]]).toEqual([document, expect.stringMatching(/^HTTP\/1\.1 206 /)])
      }
    } finally {
      await gateway.stop()
    }
    texts.printed = gateway.printed()
    expect(texts.printed.match(/"request"/g)?.length).toBeGreaterThanOrEqual(4 * archive.servers.holdings.length)
    expect(leaks(canaries(), texts)).toEqual([])
    expect(texts.printed.split('\n').slice(1).join('\n')).not.toContain(new URL(gateway.base).pathname.split('/')[1])
    // The URLs of signing APIs are as good as secrets.
    expect(Object.values(texts).join('\n')).not.toMatch(/[?&](?:sig|signature|X-Amz-Signature)=/i)
  }, 60_000)

  it('is in the environment, the arguments, the map or the errors of a program', async () => {
    const show = 'env; echo "$@"; cat "$STAC_AUTH_GATEWAY_MAP"; curl -sSf "$1" -o /dev/null; cat /proc/$PPID/cmdline'
    const token = canary('Env')
    const variables = { STAC_AUTH_TOKEN: token.value, STAC_AUTH_TOKEN_FOR: 'https://other.example/' }
    const other = await archive.user(variables)
    const { stdout, stderr } = await other.sh(
      `stac-auth run "$@" -- sh -c '${show}' sh {http-basic/data} {url:s3/data}; stac-auth run "$1" -- sh -c 'curl -sSf "$1x"' sh {data}`,
      ...items(),
    )
    expect(stdout.toString()).toContain('"targets"')
    expect(leaks([...canaries(), token], { stdout: stdout.toString('latin1'), stderr })).toEqual([])
  }, 60_000)
})
