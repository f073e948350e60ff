/**
 * A gateway, downloads and crawls in one process, for as long as `--minutes` says, with tokens that live two seconds and broken answers in
 * one of twenty. Prints handles, sockets and memory; exit 1 when they grow. `npm run nightly -- soak --minutes 60` runs it.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createAuth } from '../../src/auth/create-auth.ts'
import { crawl } from '../../src/crawl/index.ts'
import { download } from '../../src/node/download/download.ts'
import { createGateway } from '../../src/node/gateway/gateway.ts'
import type { StacDocument } from '../../src/stac/document.ts'
import { FILES, SIZE, startSite } from '../chaos/site.ts'
import type { Fault } from '../servers/chaos/fault.ts'
import { anyFault, seededFaults } from '../servers/chaos/seeded-faults.ts'

/** A part of a file in a content coding that nobody asked for ends its download, so it would be counted as a failure. */
function withoutCoding(fault: Fault): Fault {
  return fault.do === 'cut' && fault.framing === 'gzip' ? { do: 'reset', at: fault.at } : fault
}

/** What the process under test works on. */
interface Work {
  readonly documents: string
  readonly files: string
  readonly tokenUrl: string
  readonly secret: string
  readonly items: readonly StacDocument[]
  readonly end: number
}

/** What it has and did at one moment. */
interface Sample {
  readonly heap: number
  readonly rss: number
  readonly descriptors: number
  readonly handles: Readonly<Record<string, number>>
  readonly done: Readonly<Record<string, number>>
}

const EVERY = 5_000
const MIB = 2 ** 20

if (process.send) await subject()
else await observe()

/** Starts the servers and the process under test, and looks at what it tells. */
async function observe(): Promise<void> {
  const argument = (name: string, other: number) => Number(process.argv[process.argv.indexOf(name) + 1] ?? other) || other
  const minutes = process.argv.includes('--minutes') ? argument('--minutes', 2) : 2
  const seed = process.argv.includes('--seed') ? argument('--seed', 1) : 1
  const site = await startSite({ life: 2 })
  site.breakBy(seededFaults(seed, [[0.05, (random) => withoutCoding(anyFault(random))]]))
  const items = Array.from({ length: FILES }, (_, number) => site.item(number)) as StacDocument[]
  const { documents, files, clientSecret: secret } = site
  const work: Work = { documents, files, secret, items, tokenUrl: `${documents}/token`, end: Date.now() + minutes * 60_000 }
  const child = fork(fileURLToPath(import.meta.url), [], { execArgv: ['--expose-gc', '--import', 'tsx'] })
  const samples: Sample[] = []
  const problems: string[] = []
  child.on('message', (told: Sample | { readonly problem: string }) => {
    if ('problem' in told) problems.push(told.problem)
    else samples.push(told)
  })
  child.send(work)
  const [code] = (await once(child, 'close')) as [number | null]
  await pause(200)
  if (code !== 0) problems.push(`the process ended with ${code}`)
  if (site.connections() > 0) problems.push(`${site.connections()} connections are still open`)
  problems.push(...site.violations().slice(0, 3), ...growth(samples))
  await site.close()
  for (const line of table(samples)) console.log(line)
  console.log(`${minutes} min, seed ${seed}: ${JSON.stringify(samples.at(-1)?.done)}`)
  for (const problem of problems) console.log(`problem: ${problem}`)
  process.exitCode = problems.length > 0 ? 1 : 0
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0
}

/** Quarters of the run; the first warms caches up. */
function quarters(samples: readonly Sample[]): readonly (readonly Sample[])[] {
  return [0, 1, 2, 3].map((quarter) => samples.slice((quarter * samples.length) / 4, ((quarter + 1) * samples.length) / 4))
}

function handlesOf({ handles }: Sample): number {
  return Object.values(handles).reduce((sum, count) => sum + count, 0)
}

/** What is more in the last quarter than in the second: a leak goes on, a cache does not. */
function growth(samples: readonly Sample[]): readonly string[] {
  const [, second = [], , last = []] = quarters(samples)
  const compared = (name: string, of: (sample: Sample) => number, most: number) => {
    const more = median(last.map(of)) - median(second.map(of))
    return more > most ? [`${name} grew by ${more.toFixed(1)} (at most ${most})`] : []
  }
  return [
    ...compared('the heap in MiB', ({ heap }) => heap / MIB, 2),
    ...compared('descriptors', ({ descriptors }) => descriptors, 4),
    ...compared('handles', handlesOf, 6),
    ...(samples.length < 8 ? ['too few samples'] : []),
  ]
}

function table(samples: readonly Sample[]): readonly string[] {
  const rows = quarters(samples).map((quarter, at) => {
    const of = (value: (sample: Sample) => number) => median(quarter.map(value)).toFixed(1).padStart(8)
    return `quarter ${at + 1}  ${of(({ heap }) => heap / MIB)}  ${of(({ rss }) => rss / MIB)}  ${of(({ descriptors }) => descriptors)}  ${of(handlesOf)}`
  })
  return ['medians    heap MiB   rss MiB  descriptors  handles', ...rows]
}

/** The process under test. */
async function subject(): Promise<void> {
  const [work] = (await once(process, 'message')) as [Work]
  const done = { gateway: 0, download: 0, crawl: 0, aborted: 0 }
  const isOver = () => Date.now() > work.end
  const auth = createAuth({
    credentials: [
      {
        id: 'service',
        type: 'oauth2',
        flow: 'clientCredentials',
        tokenUrl: work.tokenUrl,
        clientId: 'service',
        clientSecret: work.secret,
        sendTo: [`${work.files}/`],
      },
    ],
    typed: [work.documents],
  })
  const gateway = await createGateway(auth, {
    documents: work.items.map((document) => ({ document, url: `${work.documents}/items.json` })),
  })
  const timer = setInterval(() => process.send?.(sample(done)), EVERY)
  const tell = (problem: string) => process.send?.({ problem })
  const parts = [
    ...[0, 1, 2].map(() =>
      readThrough(
        gateway.targets.map(({ url }) => url),
        done,
        isOver,
      ),
    ),
    downloadAgain(auth, work, done, isOver, tell),
    crawlAgain(auth, work, done, isOver),
  ]
  await Promise.all(parts)
  clearInterval(timer)
  await gateway.close()
  process.send?.(sample(done))
  // Nothing keeps it alive from here on: a process that stays has left something open.
  process.disconnect()
}

function sample(done: Readonly<Record<string, number>>): Sample {
  ;(globalThis as { gc?: () => void }).gc?.()
  const handles: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1
  const { heapUsed: heap, rss } = process.memoryUsage()
  return { heap, rss, descriptors: descriptorCount(), handles, done: { ...done } }
}

function descriptorCount(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0
}

type Done = Record<'gateway' | 'download' | 'crawl' | 'aborted', number>

/** A program that reads files through the gateway, and sometimes stops in the middle of one. */
async function readThrough(urls: readonly string[], done: Done, isOver: () => boolean): Promise<void> {
  for (let number = 0; !isOver(); number++) {
    const abort = new AbortController()
    const response = await fetch(urls[number % urls.length] ?? '', { signal: abort.signal }).catch(() => undefined)
    if (number % 7 === 0) {
      abort.abort()
      done.aborted++
    } else {
      const bytes = await response?.arrayBuffer().catch(() => undefined)
      if (bytes?.byteLength === SIZE) done.gateway++
    }
    await pause(20)
  }
}

async function downloadAgain(
  auth: ReturnType<typeof createAuth>,
  work: Work,
  done: Done,
  isOver: () => boolean,
  tell: (problem: string) => void,
): Promise<void> {
  while (!isOver()) {
    const folder = await mkdtemp(join(tmpdir(), 'stac-auth-soak-'))
    const inputs = work.items.map((document) => ({ document, url: `${work.documents}/items.json` }))
    for await (const event of download(inputs, { folder, auth, template: '{name}', stallTimeout: 5000 })) {
      if (event.kind === 'written') done.download++
      if (event.kind === 'failed') tell(`a download failed: ${event.error.code} ${event.error.message}`)
    }
    const leftovers = (await readdir(folder)).filter((name) => name.includes('.part'))
    if (leftovers.length > 0) tell(`left over: ${leftovers}`)
    await rm(folder, { recursive: true, force: true })
    await pause(100)
  }
}

async function crawlAgain(auth: ReturnType<typeof createAuth>, work: Work, done: Done, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for await (const visit of crawl({ start: [`${work.documents}/catalog.json`], send: auth.send })) if ('document' in visit) done.crawl++
    await pause(100)
  }
}
