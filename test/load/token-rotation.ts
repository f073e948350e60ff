/**
 * Workers that share a login in Redis while its refresh token rotates: `npx tsx test/load/token-rotation.ts [minutes] [workers]`, after
 * a build. Fails when the provider sees a refresh token twice, or any request fails.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startPeer } from '../peers/peer.ts'
import type { RedisFacts } from '../peers/redis-facts.ts'
import { startProvider } from '../peers/rotating-provider.ts'

const [minutes = 10, workers = 12] = process.argv.slice(2).map(Number)
const worker = fileURLToPath(new URL('../peers/scripts/token-worker.mjs', import.meta.url))
const peer = await startPeer<RedisFacts>('redis')
if (!('facts' in peer)) throw new Error(peer.missing)
const { host, port, password } = peer.facts
const provider = await startProvider({ lifetime: 2 })
try {
  const redis = { url: `redis://${host}:${port}`, password, key: Buffer.alloc(32, 7).toString('base64') }
  const argument = JSON.stringify({ redis, ...provider.login, milliseconds: minutes * 60_000 })
  const runs = Array.from({ length: workers }, () => promisify(execFile)(process.execPath, [worker, argument]))
  const outcomes = (await Promise.all(runs)).map(({ stdout }) => JSON.parse(stdout) as Record<string, number>)
  const answered = outcomes.reduce((sum, outcome) => sum + (outcome[200] ?? 0), 0)
  console.log(`${minutes} min, ${workers} workers: ${answered} requests answered, ${JSON.stringify(provider.counts)}`)
  const hasFailed = outcomes.some((outcome) => Object.keys(outcome).join() !== '200')
  if (hasFailed) console.log(JSON.stringify(outcomes))
  if (hasFailed || provider.counts.replays > 0 || provider.counts.logins !== 1) process.exitCode = 1
} finally {
  provider.close()
  await peer.stop()
}
