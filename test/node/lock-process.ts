/**
 * Another process at a lock; the tests start it. `beat <lock>`: the heartbeat of its holder. `replace <lock>`: removes it, as one that takes
 * an abandoned lock over, and holds a new one. `remove <lock>`: its holder releases it. `take <lock>`: takes it and ends.
 */
import { renameSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { newHolder } from '../../src/node/base/lock-holder.ts'
import { takeLock } from '../../src/node/base/process-lock.ts'

const [, , work = '', path = ''] = process.argv

const works: Readonly<Record<string, () => Promise<unknown> | unknown>> = {
  beat: () => utimesSync(path, new Date(), new Date()),
  replace: async () => {
    // A live holder on another host, so that its end does not free the lock.
    const holder = { ...(await newHolder()), id: 'e'.repeat(16), place: 'elsewhere' }
    writeFileSync(`${path}.new`, JSON.stringify(holder), { mode: 0o600 })
    // As old as the other one: only its id differs.
    utimesSync(`${path}.new`, statSync(path).mtime, statSync(path).mtime)
    renameSync(`${path}.new`, path)
  },
  remove: () => unlinkSync(path),
  take: () => takeLock(path, new AbortController().signal),
}
await works[work]?.()
