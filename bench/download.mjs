/**
 * Claims: a large file comes nearly as fast as with `curl`, although its checksum is compared and it is brought to the disk; small
 * files come faster than with `aria2c -j16`, and at half the CPU time of a plain loop over the global `fetch`; memory stays flat.
 *
 * Neither `curl` nor the loop compares, syncs or renames anything, which takes most of the time here. So they run once more with all
 * of that: `curl`, then `openssl dgst` and `sync`; the loop with a partial file that is synced and renamed.
 *
 * Files are served on loopback by another process. Every side is a whole process, start included, and they take turns. `aria2c`,
 * `curl` and `openssl` are Debian's; without them there is nothing to compare with, and the benchmark says so.
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SELF = fileURLToPath(import.meta.url)
const MIB = 2 ** 20
const LARGE = 1024 * MIB
const SMALL = 64 * 1024
const FILES = 10_000
const AT_A_TIME = 16
const ROUNDS = 3

/** Programs of Debian that it compares with. */
export const programs = ['aria2c', 'curl', 'openssl']

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [{ large: 8 * MIB, files: 20, rounds: 1 }]

export async function* run({ large = LARGE, files = FILES, rounds = ROUNDS } = {}) {
  const base = await mkdtemp(join(tmpdir(), 'stac-auth-bench-'))
  const server = fork(fileURLToPath(new URL('servers/download.mjs', import.meta.url)), [String(large)])
  const [{ origin, checksum }] = await once(server, 'message')
  const task = { base, origin, checksum, large, files }
  try {
    yield* await largeFile(task, rounds)
    yield* await smallFiles(task, rounds)
  } finally {
    server.kill()
    await rm(base, { recursive: true, force: true })
  }
}

async function largeFile(task, rounds) {
  const { base, origin, large } = task
  const path = join(base, 'files', 'large.bin')
  const measured = await byTurns(rounds, {
    ours: () => ours(task, { names: ['large.bin'], asset: { 'file:size': large, 'file:checksum': task.checksum } }),
    curl: () => measure(task, 'curl', ['-sS', '-o', path, `${origin}/large.bin`], 1),
    careful: () => measure(task, 'sh', ['-c', CAREFUL, 'sh', path, `${origin}/large.bin`], 1),
  })
  const round = middle(measured, ({ ours: own, curl }) => curl.wall / own.wall)
  const equal = middle(measured, ({ ours: own, careful }) => careful.wall / own.wall)
  const details = {
    'MiB per second': large / MIB / round.ours.wall,
    'of curl': large / MIB / round.curl.wall,
    'MiB of memory': most(measured, ({ ours: own }) => own.memory) / MIB,
  }
  return [
    {
      name: 'download, one large file with checksum',
      ratio: round.curl.wall / round.ours.wall,
      target: 0.9,
      unit: 'times curl',
      better: 'higher',
      details,
    },
    {
      name: 'download, one large file with the same care',
      ratio: equal.careful.wall / equal.ours.wall,
      target: 0.9,
      unit: 'times curl, openssl, sync',
      better: 'higher',
      details: { 'MiB per second': large / MIB / equal.ours.wall, 'of the three': large / MIB / equal.careful.wall },
    },
    memoryOf('download, memory for one large file', measured),
  ]
}

async function smallFiles(task, rounds) {
  const { base, origin, files } = task
  const names = Array.from({ length: files }, (_, index) => `${index}.bin`)
  const list = join(base, 'list.txt')
  await writeFile(list, names.map((name) => `${origin}/${name}\n`).join(''))
  const folder = join(base, 'files')
  const loop = (kind) => measure(task, process.execPath, [SELF, kind, JSON.stringify({ origin, names: files, folder })], files)
  const measured = await byTurns(rounds, {
    ours: () => ours(task, { names, asset: { 'file:size': SMALL } }),
    aria: () => measure(task, 'aria2c', ['-q', `-j${AT_A_TIME}`, '-d', folder, '-i', list], files),
    loop: () => loop('--loop'),
    careful: () => loop('--careful-loop'),
  })
  const wall = middle(measured, ({ ours: own, aria }) => aria.wall / own.wall)
  const cpu = middle(measured, ({ ours: own, loop: plain }) => plain.cpu / own.cpu)
  const careful = middle(measured, ({ ours: own, careful: checked }) => checked.cpu / own.cpu)
  return [
    {
      name: 'download, small files',
      ratio: wall.aria.wall / wall.ours.wall,
      target: 1.5,
      unit: 'times aria2c -j16',
      better: 'higher',
      details: {
        'files per second': files / wall.ours.wall,
        'of aria2c': files / wall.aria.wall,
        'times aria2c per CPU second': wall.aria.cpu / wall.ours.cpu,
      },
    },
    {
      name: 'download, small files per CPU second',
      ratio: cpu.loop.cpu / cpu.ours.cpu,
      target: 2,
      unit: 'times global fetch',
      better: 'higher',
      details: {
        'files per CPU second': files / cpu.ours.cpu,
        'of the loop': files / cpu.loop.cpu,
        'times the loop by the clock': cpu.loop.wall / cpu.ours.wall,
        'times the careful loop': careful.careful.cpu / careful.ours.cpu,
      },
    },
    memoryOf('download, memory for small files', measured),
  ]
}

function memoryOf(name, measured) {
  return { name, ratio: most(measured, ({ ours: own }) => own.memory) / MIB, target: 150, unit: 'MiB', better: 'lower' }
}

async function byTurns(rounds, sides) {
  const measured = []
  for (let round = 0; round < rounds; round++) {
    const costs = {}
    for (const [name, side] of Object.entries(sides)) costs[name] = await side()
    measured.push(costs)
  }
  return measured
}

/** The round in the middle: the sides of a round have met the same neighbours. */
function middle(measured, ratioOf) {
  return measured.toSorted((one, other) => ratioOf(one) - ratioOf(other))[measured.length >> 1]
}

function most(measured, of) {
  return Math.max(...measured.map(of))
}

function ours(task, { names, asset }) {
  const work = { origin: task.origin, folder: join(task.base, 'files'), names: names.length, asset, large: names[0] === 'large.bin' }
  return measure(task, process.execPath, [SELF, '--ours', JSON.stringify(work)], names.length)
}

/** Runs a program in an empty folder: seconds by the clock and of CPU, bytes of memory. */
async function measure({ base }, program, args, expected) {
  const folder = join(base, 'files')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  const started = performance.now()
  // GNU time is not everywhere; the shell of Debian's base system counts CPU time for everybody alike.
  const child = spawn('bash', ['-c', 'TIMEFORMAT="%U %S"; time "$@"', 'bash', program, ...args], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let said = ''
  let memory = 0
  child.stderr.on('data', (text) => {
    said += text
  })
  child.on('message', (message) => {
    memory = message.memory
  })
  const [code] = await once(child, 'close')
  const wall = (performance.now() - started) / 1e3
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${said}`)
  const [user, system] = (said.trim().split('\n').at(-1) ?? '').split(' ').map(Number)
  // Beside the files we keep a manifest of them.
  const written = (await readdir(folder)).filter((name) => name.endsWith('.bin'))
  if (written.length !== expected) throw new Error(`${program} wrote ${written.length} files of ${expected}`)
  return { wall, cpu: user + system, memory }
}

/** Our side, in a process of its own. */
async function fetchOurs({ origin, folder, names, asset, large }) {
  const { createAuth } = await import('stac-auth')
  const { download } = await import('stac-auth/node')
  const auth = createAuth({ credentials: [], typed: [origin] })
  const items = function* () {
    for (let index = 0; index < names; index++) {
      const assets = { data: { href: `${origin}/${large ? 'large' : index}.bin`, ...asset } }
      yield { document: { type: 'Feature', id: String(index), properties: {}, assets }, url: `${origin}/` }
    }
  }
  const options = { folder, auth, template: '{name}', concurrency: AT_A_TIME, perHost: AT_A_TIME }
  for await (const event of download(items(), options)) {
    if (event.kind === 'failed') throw event.error
    if (event.kind === 'summary' && event.written !== names) throw new Error(`${event.written} files were written`)
  }
  process.send({ memory: process.resourceUsage().maxRSS * 1024 })
  process.disconnect()
}

const CAREFUL = 'curl -sS -o "$1.part" "$2" && openssl dgst -sha256 "$1.part" && sync "$1.part" && mv "$1.part" "$1"'

/** What one would write first. */
function fetchLoop(task) {
  return loopOf(task, (path, bytes) => writeFile(path, bytes))
}

/** The same, so that no file is ever partial. */
function carefulLoop(task) {
  return loopOf(task, async (path, bytes) => {
    const file = await open(`${path}.part`, 'wx')
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.part`, path)
  })
}

async function loopOf({ origin, folder, names }, write) {
  let next = 0
  const work = async () => {
    while (next < names) {
      const index = next++
      const response = await fetch(`${origin}/${index}.bin`)
      await write(join(folder, `${index}.bin`), new Uint8Array(await response.arrayBuffer()))
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
}

const [, , role, argument] = process.argv
if (role === '--ours') await fetchOurs(JSON.parse(argument))
else if (role === '--loop') await fetchLoop(JSON.parse(argument))
else if (role === '--careful-loop') await carefulLoop(JSON.parse(argument))
