/**
 * Measures what one core of this machine does, for the model: `node bench/scale/measure.mjs` after a build, on a machine that does
 * nothing else. Writes `constants.json`.
 *
 * The work has one core to itself, and servers have the others, by Linux' `taskset`; times are CPU times of the process that does the work.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { assetOf, createAuth } from 'stac-auth'
import { crawl } from 'stac-auth/crawl'
import { lintText } from 'stac-auth/lint'
import { authorizeAll, download, downloadByQueue, workDownloads } from 'stac-auth/node'

const SELF = fileURLToPath(import.meta.url)
const EXTENSION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'
const CHUNK = Buffer.alloc(65_536, 'x')
const SMALL = 65_536
const MIB = 2 ** 20
const CONNECTIONS = 16
const ROUNDS = 3

/** Small runs whose time the model must foretell, with none of these settings measured before. */
const CHECKS = {
  'download 1,000 files of 64 KiB, latency 50 ms': {
    settings: { task: 'download', documents: 1000, bytes: SMALL, latency: 0.05 },
    run: () => downloaded(1000, SMALL, 50),
  },
  'download 500 files of 64 KiB, latency 200 ms': {
    settings: { task: 'download', documents: 500, bytes: SMALL, latency: 0.2 },
    run: () => downloaded(500, SMALL, 200),
  },
  'download 500 files of 1 MiB, latency 100 ms': {
    settings: { task: 'download', documents: 500, bytes: MIB, latency: 0.1 },
    run: () => downloaded(500, MIB, 100),
  },
  'crawl and lint 1,000 documents, latency 50 ms': {
    settings: { task: 'crawl', documents: 1000, latency: 0.05 },
    run: () => crawled(1000, 50),
  },
}

const item = (id, href) => ({
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: [EXTENSION],
  id,
  geometry: { type: 'Point', coordinates: [11, 48] },
  bbox: [11, 48, 11, 48],
  properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { key: { type: 'apiKey', name: 'x-api-key', in: 'header' } } },
  links: [{ rel: 'self', href: `https://catalog.example/${id}.json` }],
  assets: Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [
      `B0${index}`,
      { href: `${href}${id}/B0${index}.tif`, type: 'image/tiff', 'auth:refs': ['key'] },
    ]),
  ),
})

const [, , role, ...rest] = process.argv
if (role === '--serve') serve(Number(rest[0]))
else if (role === '--work') await work(...rest)
else if (role === '--measure') await main()
else pinned('0', ['--measure'], 'inherit').on('exit', (code) => process.exit(code ?? 1))

/** This program on some of the cores. */
function pinned(cores, args, output) {
  return spawn('taskset', ['-c', cores, process.execPath, SELF, ...args], { stdio: ['ignore', output, 'inherit', 'ipc'] })
}

async function main() {
  const rounds = []
  // By turns, so that constants and checks meet the same neighbours.
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      lint: await perCore(10_000, (count) => {
        const text = JSON.stringify(item('scene', 'https://data.example/'), null, 2)
        for (let index = 0; index < count; index++) lintText(text.replaceAll('scene', `scene${index}`))
      }),
      crawl: { cpuSeconds: (await crawled(10_000, 0)).cpuSeconds },
      presign: await presigned(100_000),
      file: await fileCosts(),
      bytesPerCpuSecond: await bytesPerCpuSecond(),
      queue: await queued(4000),
      checks: await checks(),
    })
  }
  const { checks: measured, ...constants } = median(rounds)
  const results = Object.entries(CHECKS).map(([name, { settings }]) => ({ name, settings, measured: measured[name] }))
  const machine = { cpu: cpus()[0].model.trim(), cores: cpus().length, node: process.version }
  const text = JSON.stringify({ machine, ...constants, checks: results }, null, 2)
  await writeFile(new URL('constants.json', import.meta.url), `${text}\n`)
  console.log(text)
  process.disconnect?.()
}

/** The middle of each number of the rounds. */
function median(values) {
  const [first] = values
  if (typeof first === 'number') return values.toSorted((one, other) => one - other)[values.length >> 1]
  return Object.fromEntries(Object.keys(first).map((key) => [key, median(values.map((value) => value[key]))]))
}

/** CPU seconds for one of so many. */
async function perCore(count, run) {
  await run(Math.min(2000, count / 4))
  const before = process.cpuUsage()
  await run(count)
  const { user, system } = process.cpuUsage(before)
  return { cpuSeconds: rounded((user + system) / 1e6 / count) }
}

function rounded(value) {
  return value === 0 ? 0 : Number(value.toPrecision(3))
}

/** Links of a Catalog to Items, followed and linted. */
async function crawled(count, latency) {
  const { origin, stop } = await served(latency)
  let documents = 0
  const walk = async (limit) => {
    const { fetch: _, send: sendAs } = createAuth({ credentials: [], typed: [origin] })
    for await (const visit of crawl({ start: [`${origin}/catalog/${limit}`], send: sendAs, perHost: 8 })) {
      if (visit.kind === 'stop') continue
      if (visit.bytes) lintText(new TextDecoder().decode(visit.bytes))
      documents++
    }
  }
  const begun = { cpu: { cpuSeconds: 0 }, wall: 0 }
  try {
    begun.cpu = await perCore(count, async (limit) => {
      const start = performance.now()
      await walk(limit)
      begun.wall = (performance.now() - start) / 1000
    })
  } finally {
    stop()
  }
  if (documents < count) throw new Error(`only ${documents} documents were read`)
  return { ...begun.cpu, wall: rounded(begun.wall) }
}

async function presigned(count) {
  const auth = createAuth({
    credentials: [
      {
        id: 's3',
        type: 's3',
        accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
        secretAccessKey: 'secret',
        region: 'eu-central-1',
        sendTo: ['s3://bucket/'],
      },
    ],
  })
  const document = {
    ...item('scene', 's3://bucket/'),
    properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { key: { type: 's3' } } },
  }
  const target = assetOf(document, 'B00')
  return perCore(count, async (limit) => {
    function* targets() {
      for (let index = 0; index < limit; index++) yield target
    }
    for await (const { error } of authorizeAll(auth, targets(), { presign: 3600 })) if (error) throw error
  })
}

/** An Item with so many files. */
function documentOf(count, href, prefix = 'f') {
  const assets = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${prefix}${index}`, { href: `${href}/${prefix}${index}` }]),
  )
  return { type: 'Feature', stac_version: '1.1.0', id: 'i', geometry: null, properties: { datetime: null }, links: [], assets }
}

/** Files of one size, each checked and brought to the disk. */
async function downloaded(count, size, latency) {
  const { origin, stop } = await served(latency)
  const base = await mkdtemp(join(tmpdir(), 'stac-auth-scale-'))
  let wall = 0
  try {
    const cost = await perCore(count, async (limit) => {
      const start = performance.now()
      const folder = join(base, `${limit}-${start}`)
      await mkdir(folder)
      const document = documentOf(limit, `${origin}/file/${size}`)
      const auth = createAuth({ credentials: [], typed: [origin] })
      for await (const event of download([{ document }], {
        folder,
        auth,
        concurrency: CONNECTIONS,
        perHost: CONNECTIONS,
        template: '{key}',
      }))
        if (event.kind === 'failed') throw event.error
      wall = (performance.now() - start) / 1000
    })
    return { ...cost, wall: rounded(wall) }
  } finally {
    stop()
    await rm(base, { recursive: true, force: true })
  }
}

/** The CPU of a small file, how long it waits for the disk, and the bytes that the disk takes. */
async function fileCosts() {
  const { cpuSeconds } = await downloaded(4000, SMALL, 0)
  const [latency, count] = [0.1, 1000]
  const { wall } = await downloaded(count, SMALL, latency * 1000)
  const waitSeconds = rounded(Math.max(0, (wall * CONNECTIONS) / count - latency - cpuSeconds))
  const large = await downloaded(500, MIB, 20)
  return { cpuSeconds, waitSeconds, diskBytesPerSecond: rounded((500 * MIB) / large.wall) }
}

/** What a large file costs beyond a small one. */
async function bytesPerCpuSecond() {
  const size = 256 * MIB
  const { cpuSeconds } = await downloaded(2, size, 0)
  return rounded(size / cpuSeconds)
}

/** Seconds of each check. */
async function checks() {
  const measured = {}
  for (const [name, { run }] of Object.entries(CHECKS)) measured[name] = (await run()).wall
  return measured
}

/** What a file costs Redis and the process that fills the queue; the worker has other cores. */
async function queued(count) {
  const { origin, stop } = await served(0)
  const base = await mkdtemp(join(tmpdir(), 'stac-auth-scale-'))
  const redis = await redisServer()
  const client = new Redis(redis.url)
  try {
    const folder = join(base, 'files')
    await mkdir(folder)
    const worker = pinned(`1-${cpus().length - 1}`, ['--work', redis.url, folder, origin], 'ignore')
    await once(worker, 'message')
    const auth = createAuth({ credentials: [], typed: [origin] })
    const used = async () => {
      const info = await client.info('cpu')
      return Number(/used_cpu_user:([\d.]+)/.exec(info)[1]) + Number(/used_cpu_sys:([\d.]+)/.exec(info)[1])
    }
    let redisSeconds = 0
    let prefix = 0
    const producer = await perCore(count, async (limit) => {
      prefix++
      const before = await used()
      for await (const event of downloadByQueue([{ document: documentOf(limit, `${origin}/file/${SMALL}`, `q${prefix}-`) }], {
        queue: redis.url,
        folder,
        auth,
        perHost: 64,
        template: '{key}',
      }))
        if (event.kind === 'failed') throw event.error
      redisSeconds = ((await used()) - before) / limit
    })
    worker.kill()
    return { redisSeconds: rounded(redisSeconds), producerSeconds: producer.cpuSeconds }
  } finally {
    client.disconnect()
    redis.stop()
    stop()
    await rm(base, { recursive: true, force: true })
  }
}

async function work(queue, folder, origin) {
  const auth = createAuth({ credentials: [], typed: [origin] })
  const { signal } = new AbortController()
  await workDownloads({ queue, folder, auth, signal, concurrency: 32, onReady: () => process.send('ready') })
}

async function redisServer() {
  const free = createTcpServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address()
  free.close()
  await once(free, 'close')
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--maxmemory-policy', 'noeviction']
  const server = spawn('redis-server', settings, { stdio: 'ignore' })
  await sleep(1000)
  return { url: `redis://127.0.0.1:${port}`, stop: () => server.kill() }
}

async function served(latency) {
  const server = pinned(`1-${cpus().length - 1}`, ['--serve', String(latency)], 'ignore')
  const [port] = await once(server, 'message')
  return { origin: `http://127.0.0.1:${port}`, stop: () => server.kill() }
}

function serve(latency) {
  const server = createServer(({ url }, response) => {
    const answer = () => {
      const [, kind, first] = url.split('/')
      if (kind === 'file') return send(response, Number(first))
      const origin = `http://127.0.0.1:${server.address().port}`
      const links = Array.from({ length: Number(first) }, (_, index) => ({ rel: 'item', href: `${origin}/item/${index}` }))
      const catalog = { type: 'Catalog', stac_version: '1.1.0', id: 'c', description: 'd', links }
      response.end(JSON.stringify(kind === 'catalog' ? catalog : item(`i${first}`, 'https://data.example/')))
    }
    if (latency > 0) setTimeout(answer, latency)
    else answer()
  })
  server.listen(0, '127.0.0.1', () => process.send(server.address().port))
}

function send(response, size) {
  response.writeHead(200, { 'content-length': size, 'content-type': 'image/tiff' })
  let left = size
  const push = () => {
    while (left > 0) {
      const chunk = left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK
      left -= chunk.length
      if (!response.write(chunk)) return void response.once('drain', push)
    }
    response.end()
  }
  push()
}
