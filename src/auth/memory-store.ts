import { KeyedMutex } from '../net/keyed-mutex.ts'
import type { SessionStore } from './session-store.ts'

/** A store that lasts as long as the process or the page, and is shared with nobody. Errors: `ABORTED` while waiting. */
export function memoryStore(): SessionStore {
  const texts = new Map<string, string>()
  const mutex = new KeyedMutex()
  return {
    read: async (key) => texts.get(key),
    write: async (key, text) => {
      texts.set(key, text)
    },
    reserve: async () => {},
    remove: async (key) => {
      texts.delete(key)
    },
    exclusively: (key, run, signal) => mutex.run(key, run, signal),
  }
}
