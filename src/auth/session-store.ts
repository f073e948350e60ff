/**
 * Where token sets are kept between requests, and, if the store is of that kind, between processes. Keys are 64 hex digits and
 * say nothing; texts hold secrets. Errors: `CACHE_UNSAFE`, `CACHE_LOCK_TIMEOUT`, `FILE_ACCESS`, `DISK_FULL`, `CREDENTIAL_SOURCE`,
 * as far as the kind can have them.
 */
export interface SessionStore {
  /** The text under that key; undefined when there is none, or none that can be believed. */
  read(key: string): Promise<string | undefined>
  /** Keeps the text in place of an older one, wholly or not at all. */
  write(key: string, text: string): Promise<void>
  /**
   * Proves that a text of up to so many characters can be kept, and holds the room for it until the end of `exclusively`, within which
   * it is called; the text that is there stays. A refresh token is not sent before this. A store without this method is proved by writing
   * its text once more. Errors: why it cannot be kept.
   */
  reserve?(key: string, length: number): Promise<void>
  /** Removes the text so that it cannot be read again. */
  remove(key: string): Promise<void>
  /**
   * Runs while nobody else, in this process or another, runs for the same key; not to be called from inside `run`. What
   * `run` takes for more than a minute may meet another's, where processes can be killed. Errors: those of `run`, `ABORTED`.
   */
  exclusively<T>(key: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** Proves that a store can keep a text of up to so many characters in place of `text`. Errors: why it cannot. */
export async function reserveIn(store: SessionStore, key: string, text: string, length: number): Promise<void> {
  if (store.reserve) await store.reserve(key, length)
  else await store.write(key, text)
}
