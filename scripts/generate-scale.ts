/** Writes docs/scale.md: what runs of different sizes take, by the simulation of `bench/scale` with the constants measured there. */
import { readFileSync } from 'node:fs'
// @ts-expect-error plain JavaScript, which the benchmark runs without a compiler
import { simulate, tokens } from '../bench/scale/model.mjs'
import { checkOnly, emit } from './emit.ts'

interface Constants {
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string }
  readonly lint: { readonly cpuSeconds: number }
  readonly crawl: { readonly cpuSeconds: number }
  readonly presign: { readonly cpuSeconds: number }
  readonly file: { readonly cpuSeconds: number; readonly waitSeconds: number; readonly diskBytesPerSecond: number }
  readonly bytesPerCpuSecond: number
  readonly queue: { readonly redisSeconds: number; readonly producerSeconds: number }
  readonly checks: readonly { readonly name: string; readonly settings: object; readonly measured: number }[]
}

interface Outcome {
  readonly seconds: number
  readonly coreHours: number
  readonly bottleneck: string
}

interface TokenLoad {
  readonly perHour: number
  readonly coldSeconds: number
  readonly available: number
}

const constants: Constants = JSON.parse(readFileSync(new URL('../bench/scale/constants.json', import.meta.url), 'utf8'))
const DOCUMENTS = [1e5, 1e6, 1e7, 1e8, 1e9]
const WORKERS = [1, 4, 16, 64, 256]
const MB = 1e6

const scenarios: readonly { readonly title: string; readonly about: string; readonly settings: object }[] = [
  {
    title: 'Lint by a crawl, no limit of the server',
    about: 'One request per document, 50 ms latency, 8 requests at a time per worker.',
    settings: { task: 'crawl', latency: 0.05 },
  },
  {
    title: 'Lint by a crawl, 50 requests per second',
    about: 'The same, and the server allows 50 requests per second to all workers together.',
    settings: { task: 'crawl', latency: 0.05, perSecond: 50 },
  },
  {
    title: 'Presign with authorize',
    about: 'S3 URLs, no request: documents with one asset each.',
    settings: { task: 'authorize' },
  },
  {
    title: 'Authorize by a signing API, 10 requests per second',
    about: 'One signing request per document, 200 ms latency, 10 per second for all workers together.',
    settings: { task: 'authorize', latency: 0.2, perSecond: 10 },
  },
  {
    title: 'Download files of 64 KiB by shards',
    about: 'Latency 50 ms, 64 files at a time and 1 Gbit/s per worker.',
    settings: { task: 'download', latency: 0.05, bytes: 65_536, bandwidth: 125 * MB, connections: 64 },
  },
  {
    title: 'Download files of 64 KiB by a queue',
    about: 'The same with `download --queue`: one process fills the queue and writes the manifest, and one Redis server stores it.',
    settings: { task: 'download', latency: 0.05, bytes: 65_536, bandwidth: 125 * MB, connections: 64, queue: true },
  },
  {
    title: 'Download files of 1 MB',
    about: 'Latency 50 ms, 16 files at a time and 1 Gbit/s per worker.',
    settings: { task: 'download', latency: 0.05, bytes: MB, bandwidth: 125 * MB },
  },
  {
    title: 'Download files of 100 MB, 100 requests per second',
    about: 'Latency 200 ms, 16 files at a time and 1 Gbit/s per worker.',
    settings: { task: 'download', latency: 0.2, bytes: 100 * MB, bandwidth: 125 * MB, perSecond: 100 },
  },
]

const { machine, lint, crawl, presign, file, bytesPerCpuSecond, queue, checks } = constants
emit(
  new URL('../docs/scale.md', import.meta.url),
  `# What large runs cost

How long runs of up to 10⁹ documents take, with up to 256 workers, and what limits them: often it is not the number of workers. The figures come
from a simulation (\`bench/scale\`) with constants measured on one machine: ${machine.cpu}, Node ${machine.node.slice(1)}. How to run
many workers: [pipelines](pipelines.md), [linting on several machines](linting.md#several-machines).

| measured, on one core | figure |
| --- | --- |
| lint a document of 8 assets | ${perSecond(lint.cpuSeconds)} per second |
| crawl and lint a document | ${perSecond(crawl.cpuSeconds)} per second |
| presign an S3 URL | ${perSecond(presign.cpuSeconds)} per second |
| download a file of 64 KiB, verified and synced to disk | ${perSecond(file.cpuSeconds)} per second |
| download a large file | ${Math.round(bytesPerCpuSecond / MB)} MB per second |
| write files of 1 MiB to its disk, which other programs used at the same time | ${Math.round(file.diskBytesPerSecond / MB)} MB per second |
| plan and record files of a queue, in the process that fills it | ${perSecond(queue.producerSeconds)} per second |
| files of a queue, in Redis | ${perSecond(queue.redisSeconds)} per second |

The limits of servers, latencies and bandwidths above each table are assumptions. Each cell has the duration of the run, and what limits it. Core
hours count the CPU of stac-auth and of Redis.

${scenarios.map(section).join('\n\n')}

## Tokens

Workers replace a token when a tenth of its lifetime is left, at most five minutes. Each requests its own, or all share one in [a token store in
Redis](pipelines.md#one-login-for-many-workers). For a token endpoint that allows one request per second:

| lifetime | workers | token requests per hour, one store each | until all have started | share of the time with a token | with a shared store |
| --- | --- | --- | --- | --- | --- |
${tokenRows()}

Below 100 % the token endpoint limits the run, whatever the tables above say.

## Accuracy

The simulation compared with runs on the same machine, with other latencies and counts than those that its constants were fitted to:

| run, one worker | simulated | measured |
| --- | --- | --- |
${checks.map(checkRow).join('\n')}

The simulation has no failures and no retries; all documents are alike, and the disk is that of the measured machine.
\`node bench/scale/measure.mjs\` in the repository measures yours.
`,
  checkOnly(),
)

function section({ title, about, settings }: (typeof scenarios)[number]): string {
  const rows = DOCUMENTS.map((documents) => {
    const outcomes = WORKERS.map((workers): Outcome => simulate({ ...settings, documents, workers }, constants))
    const cells = outcomes.map(({ seconds, bottleneck }) => `${duration(seconds)}, ${bottleneck}`)
    return `| ${power(documents)} | ${cells.join(' | ')} | ${number(outcomes[0]?.coreHours ?? 0)} |`
  })
  const header = `| documents | ${WORKERS.map((count) => `${count} ${count === 1 ? 'worker' : 'workers'}`).join(' | ')} | core hours |`
  return `## ${title}\n\n${about}\n\n${header}\n|${' --- |'.repeat(WORKERS.length + 2)}\n${rows.join('\n')}`
}

function checkRow({ name, settings, measured }: Constants['checks'][number]): string {
  const { seconds }: Outcome = simulate({ ...settings, workers: 1, startup: 0 }, constants)
  return `| ${name} | ${seconds.toPrecision(3)} s | ${measured} s |`
}

function tokenRows(): string {
  const rows = [60, 300, 3600].flatMap((lifetime) => [1, 16, 256].map((workers) => ({ lifetime, workers })))
  return rows
    .map(({ lifetime, workers }) => {
      const [each, shared]: readonly TokenLoad[] = [false, true].map((isShared) =>
        tokens({ workers, lifetime, shared: isShared, perSecond: 1 }),
      )
      if (!each || !shared) throw new Error('there are two kinds of stores')
      const share = `${number(each.available * 100)} %`
      return `| ${duration(lifetime)} | ${workers} | ${number(each.perHour)} | ${duration(each.coldSeconds)} | ${share} | ${number(shared.perHour)} per hour |`
    })
    .join('\n')
}

function perSecond(seconds: number): string {
  return number(Number((1 / seconds).toPrecision(2)))
}

function number(value: number): string {
  if (value < 0.001) return 'under 0.001'
  return (value < 10 ? Number(value.toPrecision(2)) : Math.round(value)).toLocaleString('en-US')
}

function power(count: number): string {
  return `10${[...String(Math.log10(count))].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')}`
}

function duration(seconds: number): string {
  if (seconds < 90) return `${number(seconds)} s`
  if (seconds < 5400) return `${number(seconds / 60)} min`
  return seconds < 172_800 ? `${number(seconds / 3600)} h` : `${number(seconds / 86_400)} days`
}
