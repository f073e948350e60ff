import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import type { MessageSocket } from '../../src/http/message.ts'
import { TEST_CA } from '../servers/harness.ts'
import { server } from './transport-fixture.ts'

const FILE = join(mkdtempSync(join(tmpdir(), 'authorities-')), 'ca.pem')
writeFileSync(FILE, TEST_CA)

afterEach(() => vi.unstubAllEnvs())

it.each([
  ['servers of an authority that the environment names', FILE, 1],
  ['no others', '', 0],
])('a WebSocket trusts %s', async (_name, path, requests) => {
  vi.stubEnv('SSL_CERT_FILE', path)
  vi.resetModules()
  const { guardedSocket } = await import('../../src/node/transport/guarded-connect.ts')
  const peer = await server(undefined, { tls: 'valid' })
  const socket: MessageSocket = (await guardedSocket(true))(peer.origin.replace('https:', 'wss:'))
  await new Promise((resolve) => socket.addEventListener('close', resolve))
  expect(peer.requests).toHaveLength(requests)
})
