/**
 * A process that downloads; the tests start it, limit it and kill it.
 *
 * Its argument is a {@link Work} in JSON. It prints an event per line, and `{ kind: 'cost', … }` in the end. SIGINT stops it in good order.
 */
import { readFileSync } from 'node:fs'
import { createAuth } from '../../../../src/auth/create-auth.ts'
import { isAuthError } from '../../../../src/errors.ts'
import type { DownloadEvent, DownloadInput, DownloadOptions } from '../../../../src/node/download/download.ts'
import { download } from '../../../../src/node/download/download.ts'

export interface Work {
  readonly folder: string
  readonly origin: string
  /** Files in all, each in an item of its own. */
  readonly count: number
  /** Members of every asset besides `href`. */
  readonly asset?: Readonly<Record<string, unknown>>
  /** `file:checksum` of each. */
  readonly checksums?: readonly string[]
  readonly options?: Partial<Omit<DownloadOptions, 'folder' | 'auth' | 'clock' | 'signal'>>
  /** Kinds of events that are printed; default those that tell how something ended. */
  readonly tell?: readonly DownloadEvent['kind'][]
}

/** What it took. */
export interface Cost {
  readonly kind: 'cost'
  /** Bytes: the most memory that was in use. */
  readonly memory: number
  /** Seconds. */
  readonly cpu: number
}

const ENDINGS: Work['tell'] = ['failed', 'warning', 'summary']
const {
  folder,
  origin,
  count,
  asset = {},
  checksums,
  options = {},
  tell = ENDINGS,
} = JSON.parse(process.argv[2] ?? '') as Work & { tell: NonNullable<Work['tell']> }

function* items(): Generator<DownloadInput> {
  for (let number = 0; number < count; number++) {
    const checksum = checksums && { 'file:checksum': checksums[number] }
    const assets = { data: { href: `${origin}/${number}.bin`, ...checksum, ...asset } }
    yield { document: { type: 'Feature', id: String(number), properties: {}, assets }, url: `${origin}/items.json` }
  }
}

const end = new AbortController()
process.once('SIGINT', () => end.abort())
try {
  const auth = createAuth({ credentials: [], typed: [origin] })
  for await (const event of download(items(), { folder, auth, template: '{name}', signal: end.signal, ...options })) {
    if (tell.includes(event.kind)) console.log(JSON.stringify(event))
  }
} catch (error) {
  console.log(JSON.stringify({ kind: 'thrown', code: isAuthError(error) ? error.code : String(error) }))
}
const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
// On Linux `maxRSS` begins with what the process that started this one had in use; the mark of its own memory does not.
const [, peak = maxRSS] = (process.platform === 'linux' && /^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))) || []
const cost: Cost = {
  kind: 'cost',
  memory: Number(peak) * 1024,
  cpu: (userCPUTime + systemCPUTime) / 1e6,
}
console.log(JSON.stringify(cost))
