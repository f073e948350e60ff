/** `authorize-all` behind the programs that divide lines among processes. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { put, temporaryFolder } from '../cli/folder.ts'
import { type Peer, startPeer } from './peer.ts'

const COMMAND = `'${process.execPath}' '${fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))}' authorize-all`
const COUNT = 300
const folder = await temporaryFolder()
let peer: Peer<unknown>

const line = (index: number, host = 'bucket') =>
  JSON.stringify({
    type: 'Feature',
    stac_version: '1.0.0',
    id: `item-${index}`,
    collection: 'c',
    geometry: null,
    links: [],
    properties: { datetime: null, 'auth:schemes': { s: { type: 's3' } } },
    assets: { data: { href: `s3://${host}/${index}.tif`, 'auth:refs': ['s'] } },
  })
const IDS = Array.from({ length: COUNT }, (_, index) => `item-${index}`)

/** Runs a script of the shell in the folder of the input. */
function shell(script: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, KEY_ID: 'AKIDEXAMPLE', SECRET: 'secret', XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder }
  const file = join(folder, 'credentials.json')
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd: folder, env: { ...env, STAC_AUTH_CREDENTIALS: file } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}

const idsIn = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((row) => JSON.parse(row).id as string)

beforeAll(async () => {
  peer = await startPeer('pipelines')
  await writeFile(join(folder, 'items.ndjson'), `${IDS.map((_, index) => line(index)).join('\n')}\n`)
  const credential = {
    id: 's',
    type: 's3',
    accessKeyId: { env: 'KEY_ID' },
    secretAccessKey: { env: 'SECRET' },
    region: 'eu-central-1',
    sendTo: ['s3://bucket/'],
  }
  await put(folder, 'credentials.json', { version: 1, credentials: [credential] })
})
afterAll(async () => {
  if ('stop' in peer) await peer.stop()
})

describe('authorize-all', () => {
  it('gets its lines from GNU parallel, which keeps their order', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    const { code, stdout } = await shell(
      `parallel --will-cite --pipe -N 100 --keep-order "${COMMAND} --expires 60 --reveal" < items.ndjson`,
    )
    expect([code, idsIn(stdout)]).toEqual([0, IDS])
    expect(stdout.match(/X-Amz-Signature=[0-9a-f]{64}/g)).toHaveLength(COUNT)
  })

  it('lets GNU parallel count the parts with an error', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    await writeFile(join(folder, 'mixed.ndjson'), `${[line(0), line(1, 'other'), line(2), line(3)].join('\n')}\n`)
    const { code, stdout } = await shell(`parallel --will-cite --pipe -N 2 --keep-order "${COMMAND}" < mixed.ndjson`)
    expect([code, idsIn(stdout)]).toEqual([1, ['item-0', 'item-1', 'item-2', 'item-3']])
    expect(JSON.parse(stdout.split('\n')[1] ?? '')).toMatchObject({ error: { code: 'CREDENTIAL_TARGET_UNTRUSTED' } })
  })

  it('divides the documents among the processes of xargs', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    expect(await shell(`seq 4 | xargs -P 4 -I {} sh -c "${COMMAND} items.ndjson --shard {}/4 --reveal > part-{}.ndjson"`)).toMatchObject({
      code: 0,
    })
    const parts = await Promise.all([1, 2, 3, 4].map((part) => readFile(join(folder, `part-${part}.ndjson`), 'utf8')))
    expect(parts.every((part) => part.length > 0)).toBe(true)
    expect(parts.flatMap(idsIn).sort()).toEqual([...IDS].sort())
  })

  it('answers a caller that writes and reads line by line, as pipe of Spark does', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    const script = `
import json, subprocess, sys, threading
process = subprocess.Popen(${JSON.stringify(`${COMMAND} --expires 60 --reveal`)}, shell=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def write():
    for line in open("items.ndjson"):
        process.stdin.write(line)
    process.stdin.close()
threading.Thread(target=write).start()
print(*[json.loads(line)["id"] for line in process.stdout])
sys.exit(process.wait())
`
    await writeFile(join(folder, 'pipe.py'), script)
    const { code, stdout } = await shell('python3 pipe.py')
    expect([code, stdout.trim().split(' ')]).toEqual([0, IDS])
  })
})
