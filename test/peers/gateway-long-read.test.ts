import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { asset, item } from '../harness/documents.ts'
import { startTokenServer, type TokenServer } from '../servers/token-server.ts'
import { type Peer, startPeer } from './peer.ts'
import { type ShellUser, shellUser } from './shell-user.ts'

/** MB of the image; the whole size is 500. */
const SIZE = Number(process.env.GATEWAY_READ_MB ?? 16)
/** Seconds that a token is good for. */
const LIFE = 3
/** Bytes per second. */
const RATE = SIZE < 100 ? 2e6 : 20e6
const CLIENT = { id: 'me', secret: randomBytes(24).toString('base64url'), scopes: ['read'] }

let gdal: Peer<object> | undefined
let tokens: TokenServer
let server: SlowServer
let user: ShellUser

beforeAll(async () => {
  gdal = await startPeer('gdal')
  tokens = await startTokenServer({ client: CLIENT, lifetime: LIFE })
  server = await startSlowServer((token) => tokens.accepts(token, 'read'))
  user = await shellUser((keep) => [
    {
      id: 'mine',
      type: 'oauth2',
      flow: 'clientCredentials',
      tokenUrl: tokens.tokenUrl,
      clientId: CLIENT.id,
      clientSecret: keep(CLIENT.secret),
      scopes: ['read'],
      sendTo: [`${server.origin}/`],
    },
  ])
}, 150_000)
afterAll(async () => {
  await Promise.all([tokens, server].map((one) => one?.close()))
  if (gdal && 'stop' in gdal) await gdal.stop()
})
beforeEach(({ skip }) => {
  if (gdal && 'missing' in gdal) skip(gdal.missing)
})

interface SlowServer {
  readonly origin: string
  /** The file that is served; set before the first request. */
  path: string
  /** Responses that were cut because their token ended. */
  readonly cut: number
  readonly refused: number
  close(): Promise<void>
}

/** A file server as slow as a real one, which ends a response when its token ends. */
async function startSlowServer(accepts: (token: string) => boolean): Promise<SlowServer> {
  const state = { path: '', cut: 0, refused: 0, waited: false }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    if (!accepts(token)) {
      state.refused++
      return response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"', 'content-length': 0 }).end()
    }
    if (request.url !== '/cog.tif') return response.writeHead(404, { 'content-length': 0 }).end()
    const { size, mtimeMs } = await stat(state.path)
    const etag = `"${size}-${mtimeMs}"`
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
    const isPart = first !== undefined && [undefined, etag].includes(request.headers['if-range'] as string | undefined)
    const [start, end] = isPart ? [Number(first), Math.min(Number(last || size - 1), size - 1)] : [0, size - 1]
    const range = isPart ? { 'content-range': `bytes ${start}-${end}/${size}` } : {}
    const fields = { etag, 'accept-ranges': 'bytes', 'content-type': 'image/tiff', 'content-length': end - start + 1, ...range }
    response.writeHead(isPart ? 206 : 200, fields)
    if (request.method === 'HEAD') return response.end()
    // However fast the machine is, one response is not complete when its token ends.
    const outlives = !state.waited && end - start > 200_000
    state.waited ||= outlives
    for await (const chunk of createReadStream(state.path, { start, end, highWaterMark: 65_536 })) {
      if (!accepts(token)) {
        state.cut++
        return response.destroy()
      }
      if (!response.write(chunk)) await once(response, 'drain', { signal: AbortSignal.timeout(30_000) }).catch(() => undefined)
      if (response.destroyed) return
      await pause((chunk.length / RATE) * 1000)
      while (outlives && accepts(token)) await pause(50)
    }
    response.end()
  }
  const http = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return Object.assign(state, {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  })
}

/** Writes bytes that no compression makes smaller as an image of GDAL's simplest format. */
async function writeRaw(path: string, side: number): Promise<void> {
  const file = await open(path, 'w')
  for (let row = 0; row < side; row++) await file.write(randomBytes(side))
  await file.close()
  const lines = ['ENVI', `samples = ${side}`, `lines = ${side}`, 'bands = 1', 'data type = 1', 'interleave = bsq', 'byte order = 0']
  await user.put('raw.hdr', `${lines.join('\n')}\n`)
}

async function digestOf(name: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(join(user.folder, name))) hash.update(chunk)
  return hash.digest('hex')
}

describe('gdal_translate', () => {
  it(`reads ${SIZE} MB through tokens that end every ${LIFE} s, without a failed read`, async () => {
    await writeRaw(join(user.folder, 'raw'), Math.round(Math.sqrt(SIZE * 1e6)))
    const made = await user.sh(
      'gdal_translate -q -of COG -co COMPRESS=NONE -co OVERVIEWS=NONE raw cog.tif && gdal_translate -q -of ENVI cog.tif public',
    )
    expect([made.code, made.stderr]).toEqual([0, ''])
    server.path = join(user.folder, 'cog.tif')
    const scheme = { type: 'oauth2', flows: { clientCredentials: { tokenUrl: tokens.tokenUrl, scopes: { read: 'Read' } } } }
    const document = await user.put('item.json', item({ o: scheme }, { data: asset(`${server.origin}/cog.tif`, ['o']) }))
    const { code, stderr } = await user.sh('stac-auth run "$1" -- gdal_translate -q -of ENVI {data} protected', document)
    expect([code, stderr]).toEqual([0, ''])
    expect(await digestOf('protected')).toBe(await digestOf('public'))
    expect(tokens.exchanges.length).toBeGreaterThan(1)
    expect(server.cut).toBeGreaterThan(0)
  }, 300_000)
})
