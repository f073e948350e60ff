import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { asset, item } from '../harness/documents.ts'
import { geotiff, pattern } from '../harness/geotiff.ts'
import type { AnsweringServer } from '../servers/answering-server.ts'
import { bearerGuard } from '../servers/guards.ts'
import { startProtectedFiles } from '../servers/protected-files.ts'
import { startTokenServer, type TokenServer } from '../servers/token-server.ts'
import { sha256 } from './gdal-reader.ts'
import { type Peer, startPeer } from './peer.ts'
import { type ShellUser, shellUser } from './shell-user.ts'

const IMAGE = pattern(2000, 1500)
const LARGE = randomBytes(16 * 2 ** 20)
const SMALL = randomBytes(100_000)
const CLIENT = { id: 'me', secret: randomBytes(24).toString('base64url'), scopes: ['read'] }

let clients: Peer<object> | undefined
let tokens: TokenServer
let files: AnsweringServer
let user: ShellUser
let document: string

beforeAll(async () => {
  clients = await startPeer('http-clients')
  tokens = await startTokenServer({ client: CLIENT })
  const guard = bearerGuard((token) => tokens.accepts(token, 'read'))
  files = await startProtectedFiles({
    '/folder/image.tif': { content: geotiff(IMAGE), guard },
    '/folder/large.bin': { content: LARGE, guard },
    '/folder/small.bin': { content: SMALL, guard },
  })
  const { tokenUrl } = tokens
  user = await shellUser((keep) => [
    {
      id: 'mine',
      type: 'oauth2',
      flow: 'clientCredentials',
      tokenUrl,
      clientId: CLIENT.id,
      clientSecret: keep(CLIENT.secret),
      scopes: ['read'],
      sendTo: [`${files.origin}/folder/`],
    },
  ])
  const scheme = { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: { read: 'Read' } } } }
  const assets = {
    image: asset(`${files.origin}/folder/image.tif`, ['o']),
    large: asset(`${files.origin}/folder/large.bin`, ['o']),
    small: asset(`${files.origin}/folder/small.bin`, ['o']),
  }
  document = await user.put('item.json', item({ o: scheme }, assets))
}, 150_000)
afterAll(async () => {
  await Promise.all([tokens, files].map((server) => server?.close()))
  if (clients && 'stop' in clients) await clients.stop()
})
beforeEach(({ skip }) => {
  if (clients && 'missing' in clients) skip(clients.missing)
})

/** Runs a program behind the gateway; the digest of what it prints, or of the file that it writes. */
const digestOf = async (command: string, file = 'printed') => {
  const { code, stdout, stderr } = await user.sh(`stac-auth run "$1" -- ${command} >printed && sha256sum <${file}`, document)
  return code === 0 ? stdout.toString().slice(0, 64) : `${code}: ${stderr}`
}

const ROWS = `
import sys, rasterio
from rasterio.windows import Window
with rasterio.open(sys.argv[1]) as image:
    for top in range(0, image.height, 500):
        for left in range(0, image.width, 500):
            sys.stdout.buffer.write(image.read(1, window=Window(left, top, 500, 500)).tobytes())
`

const PARTS = `
import sys, requests
with requests.Session() as session:
    length = int(session.head(sys.argv[1]).headers['content-length'])
    for start in range(0, length, 1000003):
        answer = session.get(sys.argv[1], headers={'range': f'bytes={start}-{start + 1000002}'})
        assert answer.status_code == 206, answer.status_code
        sys.stdout.buffer.write(answer.content)
`

/** A thread and a connection for each of 1,000 ranges, which all begin at once. */
const THREADS = `
import sys, threading, requests
parts, together = [None] * 1000, threading.Barrier(1000)

def load(index):
    together.wait()
    answer = requests.get(sys.argv[1], headers={'range': f'bytes={index * 100}-{index * 100 + 99}'}, timeout=30)
    assert answer.status_code == 206, answer.status_code
    parts[index] = answer.content

threads = [threading.Thread(target=load, args=(index,)) for index in range(1000)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.stdout.buffer.write(b''.join(parts))
`

/** The pixels in the order in which windows are read. */
function inWindows(): Buffer {
  const rows: Buffer[] = []
  for (let top = 0; top < IMAGE.height; top += 500) {
    for (let left = 0; left < IMAGE.width; left += 500) {
      for (let row = top; row < top + 500; row++) {
        rows.push(IMAGE.pixels.subarray(row * IMAGE.width + left, row * IMAGE.width + left + 500))
      }
    }
  }
  return Buffer.concat(rows)
}

describe('right bytes come through the gateway', () => {
  it('to windows of rasterio', async () => {
    await user.put('rows.py', ROWS)
    expect(await digestOf('/usr/bin/python3 rows.py {vsi:image}')).toBe(sha256(inWindows()))
  })

  it('to requests of Python, in parts and over one connection', async () => {
    await user.put('parts.py', PARTS)
    expect(await digestOf('/usr/bin/python3 parts.py {large}')).toBe(sha256(LARGE))
  })

  it.each([
    ['curl', 'curl -sSf {large}', undefined],
    ['curl, from the middle on', 'sh -c \'curl -sSf -r 0-9999999 "$1" && curl -sSf -r 10000000- "$1"\' sh {large}', undefined],
    ['wget', 'wget -q -O - {large}', undefined],
    ['aria2c over 8 connections', 'aria2c -q -x8 -s8 -k1M --file-allocation=none -o aria {large}', 'aria'],
  ])('to %s', async (_name, command, file) => {
    expect(await digestOf(command, file)).toBe(sha256(LARGE))
  })

  it('to wget, which resumes a part of the file', async () => {
    await user.put('part', LARGE.subarray(0, 5_000_001))
    expect(await digestOf('wget -q -c -O part {large}', 'part')).toBe(sha256(LARGE))
  })
})

describe('1,000 requests at a time', () => {
  it('need one token and none of them fails', async () => {
    const before = tokens.exchanges.length
    await user.put('threads.py', THREADS)
    const { stdout, stderr } = await user.sh('rm -rf .cache; stac-auth run "$1" -- /usr/bin/python3 threads.py {small}', document)
    expect([stderr, sha256(stdout)]).toEqual(['', sha256(SMALL)])
    expect(tokens.exchanges.length - before).toBe(1)
  }, 60_000)
})
