/** The figures of docs/speed.md and docs/scale.md, from the record of `node bench/index.mjs --write`. */
import { readFileSync } from 'node:fs'
import { type Files, fill, root, table } from './files.ts'

/** The last run of a benchmark. */
interface Run {
  readonly date: string
  readonly node: string
  readonly machine: string
  readonly results: readonly Result[]
}

interface Result {
  readonly name: string
  readonly figure: number
  readonly unit: string
  readonly better: 'lower' | 'higher'
  readonly target?: number
  /** Of the linter: the characters of a document. */
  readonly characters?: number
  /** Of the commands of docs/scale.md. */
  readonly command?: string
  /** Of the comparison of validators. */
  readonly programs?: readonly {
    readonly name: string
    readonly version: string
    readonly found: number
    readonly missed: number
    readonly alarms: number
    readonly seconds: number
    readonly cpu: number
    readonly memory: number
  }[]
}

const RECORD = 'bench/speed.json'
const runs: Readonly<Record<string, Run>> = JSON.parse(readFileSync(`${root}/${RECORD}`, 'utf8'))

/** What is done, what it is compared with, and the name of the result. */
const ROWS = [
  [
    'lint 20,000 Items in files, default rules',
    '`stac-node-validator` offline, documents per CPU second',
    'lint of files, documents per CPU second',
  ],
  ['find 50 planted mistakes in 500 Items', '`stac-node-validator` offline, by the clock', '50 mistakes in 500 Items, by the clock'],
  ['lint 1 GB of NDJSON', 'memory at its peak', 'peak memory (RSS) for 1 GB of NDJSON'],
  ['crawl 20,101 documents', 'a plain crawl with the global `fetch`, documents per CPU second', 'crawl, documents per CPU second'],
  ['crawl and lint them', 'the same crawl, which lints nothing', 'crawl and lint, documents per CPU second'],
  ['`authorize()` with a bearer token', '`new Request()`, processor time', 'authorize(), bearer'],
  ["start with `import 'stac-auth/node'`", 'Node with undici, processor time', 'Start: import stac-auth/node'],
  ['sign a request for S3', '`aws4`, processor time', 'S3 header signature: aws4'],
  ['presign a URL for S3', '`getSignedUrl` of the AWS SDK, processor time', 'S3 presigning: getSignedUrl'],
  ['10,000 signed URLs at once, limit unknown', 'calls that the API accepts in any second', 'signing, limit unknown'],
  ['a request of the time-tracking client, 32 at once', '`stripe`, by the clock', 'REST list, 32 at once: stripe'],
  ['a translation, 32 at once', '`deepl-node`, requests per second', 'Translation: requests, concurrency 32'],
  ['download 10,000 files of 64 KiB', '`aria2c -j16`, by the clock', 'download, small files'],
  ['the same', 'a loop over `fetch` and `writeFile`, per CPU second', 'download, small files per CPU second'],
  ['the same', 'memory at its peak', 'download, memory for small files'],
  ['download one file of 1 GiB, with its checksum', '`curl`, by the clock', 'download, one large file with checksum'],
  ['the same', '`curl`, then `openssl dgst` and `sync`, by the clock', 'download, one large file with the same care'],
  ['the same', 'memory at its peak', 'download, memory for one large file'],
  ['read one file of 1 GiB through the gateway', 'nginx as a reverse proxy that sets one header, by the clock', 'gateway, one large file'],
  ['a range of 64 KiB through the gateway', 'the server itself, time added (median)', 'gateway, latency added to a range of 64 KiB'],
  ['either', 'memory at its peak', 'gateway, memory'],
] as const

/** The documents that the linter is measured with, as the page and the benchmark call them. */
const DOCUMENTS = [
  ['an Item with authentication', 'items with authentication'],
  ['the same, rules of the level info included', 'items with authentication, infos included'],
  ['an Item with 128 assets', 'items with 128 assets'],
  ['an Item whose geometry has 5,000 corners', 'items with 5,000 corners'],
  ['an Item without authentication', 'items without authentication'],
  ['an Item with one finding', 'items with one finding'],
] as const

function speeds(): string {
  const rows = ROWS.map(([what, peer, name]) => {
    const { result, run } = named(name)
    return [what, peer, amount(result), goal(result), run.date]
  })
  return `${table(['what stac-auth does', 'compared with', 'result', 'target', 'measured'], rows)}\n${machines(Object.values(runs))}`
}

function linting(): string {
  const rows = DOCUMENTS.map(([what, name]) => {
    const [parsed, text] = ['JSON.parse and lint', 'lintText'].map((how) => named(`${name}: ${how} over JSON.parse`).result)
    if (!parsed || !text) throw new Error(`no figures for ${what}`)
    return [
      what,
      number(parsed.characters ?? 0),
      amount(parsed),
      amount(text),
      isMissed(parsed) || isMissed(text) ? `${goal(parsed, true)}` : goal(parsed),
    ]
  })
  const head = ['document', 'characters', '`JSON.parse` and `lint`', '`lintText`', 'target']
  return `${table(head, rows)}\n${measured(named('items with authentication: lintText over JSON.parse').run)}\n`
}

function validators(): string {
  const { result, run } = named('50 mistakes in 500 Items, by the clock')
  const { programs = [] } = result
  for (const { name, version } of programs.filter((program) => program.name !== 'stac-auth')) {
    const { version: installed }: { version: string } = JSON.parse(readFileSync(`${root}/node_modules/${name}/package.json`, 'utf8'))
    if (installed !== version)
      throw new Error(`${RECORD} has ${name} ${version}, but ${installed} is installed: run node bench/index.mjs --write mistakes`)
  }
  const head = ['program', 'found', 'missed', 'Items without a mistake refused', 'seconds', 'CPU seconds', 'memory at its peak']
  const rows = programs.map(({ name, version, found, missed, alarms, seconds, cpu, memory }) => {
    const times = [seconds.toFixed(1), cpu.toFixed(1), `${memory} MiB`]
    return [`\`${name}\` ${version}`, `${found}`, `${missed}`, `${alarms}`, ...times]
  })
  return `${table(head, rows)}\n${measured(run)}\n`
}

function scale(): string {
  const { scale: run } = runs
  if (!run) throw new Error(`${RECORD} has no figures of scale`)
  const rows = run.results.map(({ name, figure, unit, command }) => [name, `${number(figure)} ${unit}`, `\`${command}\``])
  return `Whole processes with their start, per second of CPU. ${measured(run)}\n\n${table(['work', 'figure', 'command'], rows)}`
}

function named(name: string): { readonly result: Result; readonly run: Run } {
  for (const run of Object.values(runs)) {
    const result = run.results.find((one) => one.name === name)
    if (result) return { result, run }
  }
  throw new Error(`${RECORD} has no "${name}": run node bench/index.mjs --write`)
}

function measured({ date, node, machine }: Run): string {
  return `Measured on ${date}, Node ${node}, ${machine}.`
}

function machines(all: readonly Run[]): string {
  const distinct = [...new Set(all.map(({ node, machine }) => `Node ${node} on ${machine}`))]
  return `Measured by \`node bench/index.mjs --write\` with ${distinct.join(', or ')}.\n`
}

function amount({ figure, unit }: Result): string {
  return `${figure} ${unitOf(unit)}`
}

/** The unit of a figure that is not a ratio. */
function unitOf(unit: string): string {
  return /^(?:ms|MB|MiB)\b/.exec(unit)?.[0] ?? '×'
}

function goal(result: Result, missed = isMissed(result)): string {
  return `${result.better === 'lower' ? 'at most' : 'at least'} ${result.target} ${unitOf(result.unit)}${missed ? ': missed' : ''}`
}

function isMissed({ figure, target, better }: Result): boolean {
  if (target === undefined) throw new Error('a row needs a target')
  return better === 'lower' ? figure > target : figure < target
}

function number(value: number): string {
  return value.toLocaleString('en')
}

export const files: Files = {
  'docs/speed.md': fill({ speeds: speeds(), linting: linting(), validators: validators() }),
  'docs/scale.md': fill({ figures: scale() }),
}
