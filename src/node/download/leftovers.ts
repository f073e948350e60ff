/** What killed processes have left in a folder. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { tryLock } from '../process-lock.ts'
import { readPartJournal } from './part-journal.ts'
import { clearSmallPart } from './small-file.ts'

/**
 * Removes what nobody can go on with, and gives the paths of the files of which a part is there. Throws nothing: whatever stays is
 * told when it is in the way.
 */
export async function clearLeftovers(folder: string): Promise<ReadonlySet<string>> {
  const names = new Set(await readdir(folder).catch(() => []))
  const parts = new Set<string>()
  for (const name of names) {
    const path = join(folder, name)
    if (name.endsWith('.part') && !(await clearSmallPart(path))) parts.add(path.slice(0, -PART.length))
    else if (/\.part\.lock\.[0-9a-f.-]+$/.test(name)) await clearLock(path)
  }
  for (const name of names) {
    const [, base] = /^(.+)\.part\.(?:json|lock)$/s.exec(name) ?? []
    if (base !== undefined && !names.has(base + PART)) await clearLock(join(folder, `${base}.part.lock`), join(folder, `${base}.part.json`))
  }
  return parts
}

const PART = '.part'

/** Removes a lock whose holder is gone, and the journal that it was about. */
async function clearLock(lock: string, journal?: string): Promise<void> {
  const lease = await tryLock(lock).catch(() => undefined)
  if (!lease) return
  if (journal !== undefined && (await readPartJournal(journal))) await rm(journal, { force: true }).catch(() => undefined)
  await lease.release()
}
