/**
 * Downloads under load and through faults, in full: minutes. `npm run test:load` runs all rows, `-- small kills` those that are named.
 *
 * Every row prints what it took beside its target; exit 1 when a byte is wrong, something is left over or a target is missed.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { refuseUnknown } from '../../scripts/command-line.ts'
import { killedDownload } from '../node/download/chaos/kill.ts'
import { type LoadRow, ROWS, runLoad } from '../node/download/chaos/load-row.ts'
import { processStarter } from '../node/download/chaos/started-process.ts'
import { runTokens, type TokenRow } from '../node/download/chaos/token-row.ts'
import { startChaosProxy } from '../servers/chaos/chaos-proxy.ts'
import { digestOf } from '../servers/chaos/depot-content.ts'
import { contentName, startFileDepot } from '../servers/chaos/file-depot.ts'

/** What a row came to: its figures, and what is wrong with them. */
interface Verdict {
  readonly figures: string
  readonly problems: readonly string[]
}

const MIB = 2 ** 20

const rows: Readonly<Record<string, () => Promise<Verdict>>> = {
  small: () => load(ROWS.small, { seconds: 40, mib: 300 }),
  middle: () => load(ROWS.middle, { seconds: 60, mib: 300 }),
  large: () => load(ROWS.large, { seconds: 70, mib: 350 }),
  tokens: () => tokens({ count: 200, size: 2 * MIB, seconds: 60 }, 45),
  kills: () => kills({ size: 50 * MIB, files: 100, kills: 1, most: 1.3 }),
  endurance: () => kills({ size: 1024 * MIB, files: 1, kills: 20, most: 1.3 }),
}

const named = process.argv.slice(2)
refuseUnknown('row', named, Object.keys(rows))
const starter = await processStarter()
let isGood = true
try {
  for (const [name, row] of Object.entries(rows)) {
    if (named.length > 0 && !named.includes(name)) continue
    const { figures, problems } = await row()
    isGood &&= problems.length === 0
    console.log(`${problems.length === 0 ? 'ok    ' : 'MISSED'} ${name.padEnd(10)} ${figures}`)
    for (const problem of problems.slice(0, 10)) console.log(`       ${problem}`)
  }
} finally {
  await starter.remove()
}
process.exitCode = isGood ? 0 : 1

async function load(row: LoadRow, most: { readonly seconds: number; readonly mib: number }): Promise<Verdict> {
  const result = await runLoad(starter, row)
  const { written, wrong, leftovers, violations, codes, requests, faults, seconds, memory } = result
  const problems = [...wrong, ...leftovers.map((name) => `left over: ${name}`), ...violations, ...codes]
  if (written !== row.count) problems.push(`${written} files of ${row.count}`)
  if (seconds > most.seconds) problems.push(`more than ${most.seconds} s`)
  if (memory > most.mib * MIB) problems.push(`more than ${most.mib} MiB`)
  const took = `${seconds.toFixed(1)} s (at most ${most.seconds}), ${(memory / MIB).toFixed(0)} MiB (at most ${most.mib})`
  return { figures: `${row.count} × ${row.size / 1024} KiB, ${requests} requests, ${faults} faults: ${took}`, problems }
}

async function tokens(row: TokenRow, most: number): Promise<Verdict> {
  const { codes, wrong, leftovers, tokenRequests, refused, parts, seconds } = await runTokens(row)
  const problems = [...codes, ...wrong, ...leftovers.map((name) => `left over: ${name}`)]
  if (tokenRequests > most) problems.push(`more than ${most} requests for tokens`)
  const asked = `${tokenRequests} requests for tokens (at most ${most}), ${parts} for parts, ${refused} of them refused`
  return { figures: `${row.count} × ${row.size / 1024} KiB in ${seconds.toFixed(0)} s: ${asked}`, problems }
}

async function kills(row: { readonly size: number; readonly files: number; readonly kills: number; readonly most: number }) {
  const { size, files, most } = row
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-kills-'))
  const depot = await startFileDepot({ files: () => ({ size }) })
  const proxy = await startChaosProxy({ upstream: depot.origin, faultOf: () => undefined, forget: true })
  const asset = { 'file:size': size, 'file:checksum': `1220${digestOf(contentName('/0.bin', 0), size)}` }
  const problems: string[] = []
  const shares: number[] = []
  try {
    for (let seed = 1; seed <= files; seed++) {
      const killed = await killedDownload({ start: starter.start, proxy, folder, size, seed, kills: row.kills, asset })
      shares.push(killed.transferred)
      problems.push(...killed.problems.map((problem) => `seed ${seed}, killed at ${killed.points.join(' ')}: ${problem}`))
      if (killed.transferred > most) problems.push(`seed ${seed}: ${killed.transferred.toFixed(3)} times the file was transferred`)
    }
  } finally {
    await proxy.close()
    await depot.close()
    await rm(folder, { recursive: true, force: true })
  }
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
  const said = `${mean.toFixed(3)} times the file on average, ${Math.max(...shares).toFixed(3)} at most (allowed ${most})`
  return { figures: `${files} × ${size / MIB} MiB, killed ${row.kills} times each: ${said}`, problems }
}
