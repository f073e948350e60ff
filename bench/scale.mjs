/**
 * The figures of docs/scale.md: the commands that its table names, as whole processes with their start, per second of CPU, which a busy
 * machine changes less than the clock. Each command runs `rounds` times, and the round in the middle counts. There is nothing to compare with,
 * so that there are no targets.
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const BIN = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url))
const MIB = 2 ** 20
const EXTENSION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'
const SCHEMES = { s3: { type: 's3', region: 'eu-central-1' } }

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [{ documents: 50, crawled: 2, files: 20, large: 4 * MIB, rounds: 1 }]

export async function* run({ documents = 10_000, crawled = 20, files = 1000, large = 256 * MIB, rounds = 3 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-scale-'))
  const servers = [
    fork(fileURLToPath(new URL('servers/download.mjs', import.meta.url)), [String(large)]),
    fork(fileURLToPath(new URL('crawl.mjs', import.meta.url)), ['--serve', String(crawled), '200']),
  ]
  const [[{ origin, checksum }], [port]] = await Promise.all(servers.map((server) => once(server, 'message')))
  const catalog = `http://127.0.0.1:${port}/`
  const bench = { env: 'BENCH_KEY' }
  const credentials = [
    { id: 's3', type: 's3', accessKeyId: bench, secretAccessKey: bench, sendTo: ['https://bucket.s3.eu-central-1.amazonaws.com/'] },
    { id: 'local', type: 'apiKey', in: 'header', name: 'x-api-key', value: bench, sendTo: [`${origin}/`] },
  ]
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ version: 1, credentials }), { mode: 0o600 })
  const list = async (name, count, make) =>
    writeFile(join(folder, name), Array.from({ length: count }, (_, index) => `${JSON.stringify(make(index))}\n`).join(''))
  await list('items.ndjson', documents, (index) => item(index, 8))
  await list('one.ndjson', documents, (index) => item(index, 1))
  await list('files.ndjson', files / 10, (index) => downloads(origin, index))
  const whole = { 'file:size': large, 'file:checksum': checksum }
  await list('large.ndjson', 1, () => downloads(origin, 0, { 'large.bin': { href: `${origin}/large.bin`, ...whole } }))
  const rows = [
    ['lint documents of 8 assets', 'stac-auth lint items.ndjson', documents, 'documents'],
    ['crawl and lint documents', `stac-auth lint --crawl ${catalog} --per-host 8`, 1 + crawled * 201, 'documents'],
    ['presign an S3 URL, documents of 1 asset', 'stac-auth authorize --as ndjson one.ndjson --expires 3600 --reveal', documents, 'URLs'],
    [
      'presign an S3 URL, documents of 8 assets',
      'stac-auth authorize --as ndjson items.ndjson --expires 3600 --reveal',
      documents * 8,
      'URLs',
    ],
    ['download files of 64 KiB, verified and synced to disk', 'stac-auth download files.ndjson -d data', files, 'files'],
    ['download a large file with its checksum', 'stac-auth download large.ndjson -d data', large / 1e6, 'MB'],
  ]
  try {
    for (const [name, command, amount, unit] of rows) {
      const seconds = []
      for (let round = 0; round < rounds; round++) seconds.push(await timed(command, folder))
      const ratio = amount / seconds.sort((one, other) => one - other)[rounds >> 1]
      yield { name, ratio, unit: `${unit} per CPU second`, better: 'higher', command: command.replace(catalog, 'https://catalog.example/') }
    }
  } finally {
    for (const server of servers) server.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Seconds of CPU of a command. */
async function timed(command, folder) {
  await rm(join(folder, 'data'), { recursive: true, force: true })
  const [, ...argv] = command.split(' ')
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    BENCH_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    STAC_AUTH_CREDENTIALS: join(folder, 'credentials.json'),
  }
  // GNU time is not everywhere; the shell of Debian's base system counts CPU time for everybody alike.
  const shell = ['-c', 'TIMEFORMAT="%U %S"; time "$@"', 'bash', process.execPath, BIN, ...argv]
  const child = spawn('bash', shell, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${said}`)
  const [user, system] = (said.trim().split('\n').at(-1) ?? '').split(' ').map(Number)
  return user + system
}

function item(index, assets) {
  const asset = (number) => ({
    href: `https://bucket.s3.eu-central-1.amazonaws.com/${index}/B0${number}.tif`,
    type: 'image/tiff',
    'auth:refs': ['s3'],
  })
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION],
    id: `scene-${index}`,
    geometry: null,
    properties: { datetime: '2026-01-01T10:00:00Z', 'auth:schemes': SCHEMES },
    links: [],
    assets: Object.fromEntries(Array.from({ length: assets }, (_, number) => [`B0${number}`, asset(number)])),
  }
}

/** An item with ten files, or the given ones. */
function downloads(origin, index, assets) {
  const names = Array.from({ length: 10 }, (_, number) => `${index}-${number}.bin`)
  return {
    ...item(index, 0),
    properties: { datetime: '2026-01-01T10:00:00Z', 'auth:schemes': { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
    assets: Object.fromEntries(
      Object.entries(assets ?? Object.fromEntries(names.map((name) => [name, { href: `${origin}/${name}`, 'file:size': 65_536 }]))).map(
        ([name, asset]) => [name, { ...asset, 'auth:refs': ['key'] }],
      ),
    ),
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for await (const { name, ratio, unit, command } of run()) console.log(`${name}: ${ratio.toFixed(0)} ${unit} (${command})`)
}
