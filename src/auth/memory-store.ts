import { AbortedError } from '../errors.ts'
import type { SessionStore } from './session-store.ts'

/** Keeps token sets as long as the store itself is kept. */
export function memoryStore(): SessionStore {
  const texts = new Map<string, string>()
  const turns = new Map<string, Promise<unknown>>()
  return {
    read: async (key) => texts.get(key),
    write: async (key, text) => {
      texts.set(key, text)
    },
    remove: async (key) => {
      texts.delete(key)
    },
    exclusively: (key, run, signal) => {
      const turn = (turns.get(key) ?? Promise.resolve()).then(() => {
        if (signal?.aborted) throw new AbortedError(signal.reason)
        return run()
      })
      const over = turn.catch(() => {}).finally(() => turns.get(key) === over && turns.delete(key))
      turns.set(key, over)
      return turn
    },
  }
}
