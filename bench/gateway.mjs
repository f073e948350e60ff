/**
 * Claims: a large file comes through the gateway at no less than 0.8 of the rate of nginx, as it is installed, as a reverse proxy that
 * sets one header; a range of 64 KiB takes at most half a millisecond more than without the gateway; memory stays below 150 MiB.
 *
 * One nginx serves a sparse file to requests with the header, and is the reverse proxy in front of itself for those without. All sides
 * take turns in one run. `nginx` and `curl` are Debian's. The gateway is the built command, so its figures are those of a user.
 *
 * `GATEWAY_TOTAL_GB=100` reads that much more, and `GATEWAY_CONNECTIONS=10000` opens that many connections that never ask for anything.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const PROGRAM = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url))
const MIB = 2 ** 20
const LARGE = 1024 * MIB
const RANGE = 64 * 1024
const ROUNDS = 3
const RANGES = 4000
const TURNS = 4
const TOKEN = 'of-the-benchmark'

const runProgram = promisify(execFile)

/** Programs of Debian that it compares with. */
export const programs = ['nginx', 'curl']

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [{ rounds: 1, ranges: 20 }]

export async function run({ rounds = ROUNDS, ranges = RANGES } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-bench-'))
  const servers = []
  try {
    const nginx = await startNginx(folder, servers)
    const gateway = await startGateway(folder, nginx.origin, servers)
    const before = await memoryOf(gateway.pid)
    const rates = []
    for (let round = 0; round <= rounds; round++) {
      rates.push({
        ours: await rateOf(gateway.url),
        nginx: await rateOf(`${nginx.proxy}/large.bin`),
        tuned: await rateOf(`${nginx.proxy}/tuned/large.bin`),
        direct: await rateOf(`${nginx.origin}/large.bin`, true),
      })
    }
    // The first round only warms them up.
    rates.shift()
    const round = rates.toSorted((one, other) => one.ours / one.nginx - other.ours / other.nginx)[rates.length >> 1]
    const sides = {
      direct: [`${nginx.origin}/large.bin`, { authorization: `Bearer ${TOKEN}` }],
      ours: [gateway.url],
      proxied: [`${nginx.proxy}/large.bin`],
    }
    const { direct, ours, proxied } = await latencies(sides, ranges)
    for (let left = Number(process.env.GATEWAY_TOTAL_GB ?? 0); left > 0; left -= LARGE / 1e9) await rateOf(gateway.url)
    const memory = await memoryOf(gateway.pid)
    const connections = Number(process.env.GATEWAY_CONNECTIONS ?? 0)
    const idle = connections > 0 ? await idleConnections(gateway, connections) : {}
    return [
      {
        name: 'gateway, one large file',
        ratio: round.ours / round.nginx,
        target: 0.8,
        unit: 'times nginx as reverse proxy',
        better: 'higher',
        details: {
          'MiB per second': round.ours / MIB,
          'of nginx': round.nginx / MIB,
          'of nginx with large buffers': round.tuned / MIB,
          'without either': round.direct / MIB,
        },
      },
      {
        name: 'gateway, latency added to a range of 64 KiB',
        ratio: ours - direct,
        target: 0.5,
        unit: 'ms (median)',
        better: 'lower',
        details: { 'ms through the gateway': ours, 'through nginx': proxied, directly: direct },
      },
      {
        name: 'gateway, memory',
        ratio: memory.most / MIB,
        target: 150,
        unit: 'MiB',
        better: 'lower',
        details: { 'MiB at the start': before.now / MIB, 'at the end': memory.now / MIB, ...idle },
      },
    ]
  } finally {
    for (const server of servers.reverse()) {
      server.kill()
      if (server.exitCode === null && server.signalCode === null) await once(server, 'close')
    }
    await rm(folder, { recursive: true, force: true })
  }
}

/** Starts nginx: files for requests with the header on one port, the reverse proxy that sets it on another. */
async function startNginx(folder, servers) {
  const program = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((path) => existsSync(path))
  if (!program) throw new Error('nginx is missing: apt-get install nginx-light')
  const file = await open(join(folder, 'large.bin'), 'w')
  await file.truncate(LARGE)
  await file.close()
  const [port, proxy] = [await freePort(), await freePort()]
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')
  const forward = `proxy_pass http://127.0.0.1:${port}; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer ${TOKEN}";`
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
${process.getuid() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
  access_log off; sendfile on; keepalive_requests 1000000; ${temporary}
  server {
    listen 127.0.0.1:${port}; root ${folder};
    location / { if ($http_authorization != "Bearer ${TOKEN}") { return 401; } }
  }
  server {
    listen 127.0.0.1:${proxy};
    location / { ${forward} }
    location /tuned/ { rewrite ^/tuned(/.*)$ $1 break; ${forward}
      proxy_max_temp_file_size 0; proxy_buffers 16 64k; proxy_buffer_size 64k; proxy_busy_buffers_size 512k; }
  }
}`,
  )
  servers.push(spawn(program, ['-p', folder, '-e', `${folder}/error.log`, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' }))
  for (const one of [port, proxy]) await answering(one)
  return { origin: `http://127.0.0.1:${port}`, proxy: `http://127.0.0.1:${proxy}` }
}

/** Starts the command and waits for its first line. */
async function startGateway(folder, origin, servers) {
  const item = {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
    id: 'bench',
    geometry: null,
    properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { token: { type: 'http', scheme: 'bearer' } } },
    links: [],
    assets: { large: { href: `${origin}/large.bin`, 'auth:refs': ['token'] } },
  }
  await writeFile(join(folder, 'item.json'), JSON.stringify(item))
  const env = {
    ...process.env,
    HOME: folder,
    XDG_CACHE_HOME: folder,
    XDG_CONFIG_HOME: folder,
    STAC_AUTH_TOKEN: TOKEN,
    STAC_AUTH_TOKEN_FOR: origin,
  }
  delete env.STAC_AUTH_CREDENTIALS
  const gateway = spawn(process.execPath, [PROGRAM, 'gateway', join(folder, 'item.json'), '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  servers.push(gateway)
  const [line] = await once(createInterface(gateway.stdout), 'line')
  gateway.stdout.resume()
  const { base, targets } = JSON.parse(line).ready
  return { base, url: targets.find(({ key }) => key === 'large').url, pid: gateway.pid }
}

/** Bytes per second of one file, by a program that does nothing with it. */
async function rateOf(url, withHeader = false) {
  const header = withHeader ? ['-H', `Authorization: Bearer ${TOKEN}`] : []
  const { stdout } = await runProgram('curl', ['-sSf', '-o', '/dev/null', '-w', '%{size_download} %{time_total}', ...header, url])
  const [size, seconds] = stdout.split(' ').map(Number)
  if (size !== LARGE) throw new Error(`${size} bytes instead of ${LARGE}`)
  return size / seconds
}

/** Milliseconds in the middle for each side; they take turns, and the first turn only warms them up. */
async function latencies(sides, ranges) {
  const took = Object.fromEntries(Object.keys(sides).map((name) => [name, []]))
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const [name, [url, headers]] of Object.entries(sides)) {
      const times = await timesOf(url, ranges / TURNS, headers)
      if (turn > 0) took[name].push(...times)
    }
  }
  return Object.fromEntries(Object.entries(took).map(([name, times]) => [name, times.sort((one, other) => one - other)[times.length >> 1]]))
}

/** Milliseconds of each of so many ranges, one after another over one connection. */
async function timesOf(url, ranges, headers = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const took = []
  for (let index = 0; index < ranges; index++) {
    const start = (index * 7919 * RANGE) % (LARGE - RANGE)
    const begun = performance.now()
    await new Promise((resolve, reject) => {
      get(url, { agent, headers: { ...headers, range: `bytes=${start}-${start + RANGE - 1}` } }, (response) => {
        let size = 0
        response.on('data', (chunk) => {
          size += chunk.length
        })
        response.on('end', () =>
          response.statusCode === 206 && size === RANGE ? resolve() : reject(new Error(`${response.statusCode}, ${size} bytes`)),
        )
      }).on('error', reject)
    })
    took.push(performance.now() - begun)
  }
  agent.destroy()
  return took
}

/** Opens connections that begin a request and never end it; says how many were kept, and that others are served meanwhile. */
async function idleConnections({ base, url, pid }, count) {
  const { hostname, port } = new URL(base)
  const sockets = []
  let closed = 0
  for (let index = 0; index < count; index++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined).on('close', () => closed++)
    socket.write('GET / HTTP/1.1\r\nHo')
    sockets.push(socket)
    if (index % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const kept = count - closed
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => setTimeout(resolve, 500))
  await timesOf(url, 10)
  return { [`of ${count} half-open connections kept`]: kept, 'MiB at most with them': (await memoryOf(pid)).most / MIB }
}

/** Bytes of memory of a process, now and at most so far. */
async function memoryOf(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const bytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
  return { now: bytes('VmRSS'), most: bytes('VmHWM') }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

async function answering(port) {
  for (let attempt = 0; attempt < 200; attempt++) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise((resolve) => socket.once('connect', () => resolve(true)).once('error', () => resolve(false)))
    socket.destroy()
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing answers on port ${port}`)
}
