/**
 * Claims: linting NDJSON costs at most 1.6 times the time of splitting it into lines and parsing them with Node's own means; 1 GB of
 * it takes less than 100 MB of memory, and no more than half of it takes.
 *
 * The same stream, generated as it is read, goes to both in turn in this process; then 1 GB of it goes to the program, whose peak of
 * memory is compared with that for half of it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { main } from '../dist/cli/main.js'

const GB = 1e9
const EXTENSION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'
const BIN = new URL('../dist/cli/bin.js', import.meta.url)
/** Different lines, given again and again. */
const LINES = Array.from({ length: 2000 }, (_, index) => `${JSON.stringify(item(index))}\n`)
const BLOCK = Buffer.from(LINES.join(''))

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [{ bytes: 1e7, compared: 1e6, rounds: 1 }]

export async function run({ bytes = GB, compared = GB / 10, rounds = 3 } = {}) {
  const ratios = []
  for (let round = -1; round < rounds; round++) {
    const theirs = await cost(() => split(compared))
    const ours = await cost(() => lint(compared))
    if (round >= 0) ratios.push({ ratio: ours / theirs, ours, theirs })
  }
  ratios.sort((one, other) => one.ratio - other.ratio)
  const { ratio, ours } = ratios[ratios.length >> 1]
  const count = documentsIn(compared)
  const half = await peak(bytes / 2)
  const whole = await peak(bytes)
  return [
    {
      name: 'lint NDJSON over readline and JSON.parse',
      ratio,
      target: 1.6,
      unit: 'times',
      better: 'lower',
      details: { 'documents per CPU second': count / ours, 'MB per CPU second': compared / 1e6 / ours },
    },
    {
      name: `memory for ${bytes / GB} GB of NDJSON over half of it`,
      ratio: whole.megabytes / half.megabytes,
      target: 1.1,
      unit: 'times',
      better: 'lower',
      details: { MB: whole.megabytes, 'of the half': half.megabytes, documents: whole.documents, seconds: whole.seconds },
    },
    {
      name: `peak memory (RSS) for ${bytes / GB} GB of NDJSON`,
      ratio: whole.megabytes,
      target: 100,
      unit: 'MB',
      better: 'lower',
    },
  ]
}

function documentsIn(bytes) {
  return Math.ceil(bytes / BLOCK.length) * LINES.length
}

function stream(bytes) {
  return Readable.from(
    (function* () {
      for (let left = bytes; left > 0; left -= BLOCK.length) yield BLOCK
    })(),
    { objectMode: false },
  )
}

async function split(bytes) {
  let documents = 0
  for await (const line of createInterface({ input: stream(bytes), crlfDelay: Number.POSITIVE_INFINITY })) {
    JSON.parse(line)
    documents++
  }
  return documents
}

async function lint(bytes) {
  const out = []
  const stdout = new Writable({ write: (chunk, _encoding, done) => done(null, out.push(chunk)) })
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() })
  const io = { stdin: stream(bytes), stdout, stderr, env: {}, signal: new AbortController().signal }
  const code = await main(['lint', '-', '--format', 'json'], io)
  if (code !== 0) throw new Error(`exit code ${code}`)
  return JSON.parse(Buffer.concat(out).toString()).summary.documents
}

/** Seconds of CPU. */
async function cost(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

/** The most memory that the program has had (RSS), in MB, as the kernel counted it; elsewhere than on Linux, as Node tells it. */
async function peak(bytes) {
  const told = `/VmHWM:\\s+(\\d+)/.exec(existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '')?.[1] ?? process.resourceUsage().maxRSS`
  const program = `import { existsSync, readFileSync } from 'node:fs'; process.on('exit', () => console.error('peak', ${told})); process.argv.splice(1, 0, 'stac-auth'); await import(${JSON.stringify(BIN.href)})`
  const started = performance.now()
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, 'lint', '-', '--format', 'json'], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) child[name].on('data', (chunk) => (texts[name] += chunk))
  stream(bytes).pipe(child.stdin)
  await once(child, 'close')
  const megabytes = (Number(/peak (\d+)/.exec(texts.stderr)?.[1]) * 1024) / 1e6
  if (!megabytes) throw new Error(texts.stderr)
  return { megabytes, documents: JSON.parse(texts.stdout).summary.documents, seconds: (performance.now() - started) / 1e3 }
}

function item(index) {
  const asset = (band) => ({
    href: `https://data.example/scenes/2026/01/scene-${index}/${band}.tif`,
    type: 'image/tiff; application=geotiff; profile=cloud-optimized',
    title: `Band ${band} of scene ${index}, surface reflectance`,
    roles: ['data', 'reflectance'],
    'proj:shape': [10980, 10980],
    'proj:transform': [10, 0, 600000, 0, -10, 5700000],
    'file:size': 100000000 + index,
    'auth:refs': ['oidc'],
  })
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION],
    id: `scene-${index}`,
    collection: 'scenes',
    geometry: { type: 'Polygon', coordinates: [Array.from({ length: 24 }, (_, corner) => [10 + corner * 0.0512345, 50 + index * 1e-4])] },
    bbox: [10, 50, 11, 51],
    properties: {
      datetime: '2026-01-01T10:00:00Z',
      'eo:cloud_cover': index % 100,
      'auth:schemes': { oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://identity.example/.well-known/openid-configuration' } },
    },
    links: ['self', 'parent', 'root'].map((rel) => ({
      rel,
      href: `https://catalog.example/scenes/${index}/${rel}`,
      type: 'application/json',
    })),
    assets: Object.fromEntries(['B02', 'B03', 'B04', 'B08', 'SCL', 'visual'].map((band) => [band, asset(band)])),
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(await run())
