import type { SessionStore } from './session-store.ts'
import { Turns } from './turns.ts'

/** A store that lasts as long as the process or the page, and is shared with nobody. Errors: `ABORTED` while waiting. */
export function memoryStore(): SessionStore {
  const texts = new Map<string, string>()
  const turns = new Turns()
  return {
    read: async (key) => texts.get(key),
    write: async (key, text) => {
      texts.set(key, text)
    },
    reserve: async () => {},
    remove: async (key) => {
      texts.delete(key)
    },
    exclusively: (key, run, signal) => turns.take(key, run, signal),
  }
}
