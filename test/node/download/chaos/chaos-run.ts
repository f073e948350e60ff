/** Downloads through a proxy that breaks answers, and looks at what is on the disk afterwards. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createAuth } from '../../../../src/auth/create-auth.ts'
import type { CredentialSource } from '../../../../src/auth/credential.ts'
import type {
  DownloadEvent,
  DownloadOptions,
  FailedEvent,
  KeptEvent,
  SummaryEvent,
  WrittenEvent,
} from '../../../../src/node/download/download.ts'
import { download } from '../../../../src/node/download/download.ts'
import { MANIFEST_NAME } from '../../../../src/node/download/manifest.ts'
import { type ChaosProxy, startChaosProxy } from '../../../servers/chaos/chaos-proxy.ts'
import { differenceOf } from '../../../servers/chaos/depot-content.ts'
import type { FaultOf } from '../../../servers/chaos/fault.ts'
import { contentName, type DepotFile, type DepotOptions, type FileDepot, startFileDepot } from '../../../servers/chaos/file-depot.ts'

/** A file of the depot and what its document states of it. */
export interface WantedFile extends DepotFile {
  /** Members of the asset besides `href`. */
  readonly asset?: Readonly<Record<string, unknown>>
}

export interface Setting {
  /** By path. */
  readonly files: Readonly<Record<string, WantedFile>>
  readonly faultOf?: FaultOf
  readonly refuses?: DepotOptions['refuses']
  readonly credentials?: CredentialSource
  /** Members of the item. */
  readonly item?: Readonly<Record<string, unknown>>
}

export interface Outcome {
  readonly events: readonly DownloadEvent[]
  readonly written: readonly WrittenEvent[]
  readonly kept: readonly KeptEvent[]
  readonly failed: readonly FailedEvent[]
  /** Codes of what failed. */
  readonly codes: readonly string[]
  readonly summary: SummaryEvent
  /** Files whose content is not that of their last version. */
  readonly wrong: readonly string[]
  /** Names of what lies in the folder and is no file that was wanted. */
  readonly leftovers: readonly string[]
  /** Milliseconds of every pause. */
  readonly pauses: readonly number[]
}

export interface ChaosRun {
  readonly depot: FileDepot
  readonly proxy: ChaosProxy
  readonly folder: string
  run(options?: Partial<DownloadOptions>): Promise<Outcome>
}

/** Everything lasts as long as the test. */
export async function chaosRun({ files, faultOf = () => undefined, refuses, credentials = [], item }: Setting): Promise<ChaosRun> {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-chaos-'))
  const depot = await startFileDepot({ files: (path) => files[path], ...(refuses && { refuses }) })
  const proxy = await startChaosProxy({ upstream: depot.origin, faultOf })
  onTestFinished(async () => {
    await proxy.close()
    await depot.close()
    await rm(folder, { recursive: true, force: true })
  })
  const assets = Object.fromEntries(Object.entries(files).map(([path, { asset }]) => [path.slice(1), { href: path, ...asset }]))
  const document = { type: 'Feature', id: 'one', properties: {}, assets, ...item }
  const auth = createAuth({ credentials, typed: [proxy.origin] })
  const run = async (options: Partial<DownloadOptions> = {}): Promise<Outcome> => {
    const pauses: number[] = []
    const events: DownloadEvent[] = []
    const given = { folder, auth, clock: quickClock(pauses), template: '{name}', ...options }
    for await (const event of download([{ document, url: `${proxy.origin}/item.json` }], given)) events.push(event)
    return { ...sorted(events), ...(await inspected(folder, files, proxy)), pauses }
  }
  return { depot, proxy, folder, run }
}

/** After a hundredth of a pause all of it has passed; what is measured on the network takes as long as it takes. */
function quickClock(pauses: number[]): NonNullable<DownloadOptions['clock']> {
  let ahead = 0
  const now = () => Date.now() + ahead
  return {
    now,
    setTimer: (milliseconds, expire) => {
      pauses.push(milliseconds)
      const end = now() + milliseconds
      const timer = setTimeout(() => {
        // Pauses at the same time are one: the last one to end says how late it is.
        ahead = Math.max(ahead, end - Date.now())
        expire()
      }, milliseconds / 100)
      return () => clearTimeout(timer)
    },
  }
}

function sorted(events: readonly DownloadEvent[]): Pick<Outcome, 'events' | 'written' | 'kept' | 'failed' | 'codes' | 'summary'> {
  const failed = events.filter((event) => event.kind === 'failed')
  return {
    events,
    written: events.filter((event) => event.kind === 'written'),
    kept: events.filter((event) => event.kind === 'kept'),
    failed,
    codes: failed.map(({ error }) => error.code),
    summary: events.at(-1) as SummaryEvent,
  }
}

async function inspected(folder: string, files: Setting['files'], proxy: ChaosProxy): Promise<Pick<Outcome, 'wrong' | 'leftovers'>> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.map(({ name }) => name)
  const wanted = entries.filter((entry) => entry.isFile() && Object.hasOwn(files, `/${entry.name}`)).map(({ name }) => name)
  const differences = wanted.map((name) => {
    const path = `/${name}`
    return differenceOf(join(folder, name), contentName(path, proxy.revision(path)), files[path]?.size ?? 0)
  })
  return {
    wrong: (await Promise.all(differences)).filter((difference) => difference !== undefined),
    leftovers: names.filter((name) => name !== MANIFEST_NAME && !Object.hasOwn(files, `/${name}`)),
  }
}
