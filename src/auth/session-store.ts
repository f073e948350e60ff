/**
 * Where token sets are kept between requests, and, if the store is of that kind, between processes. Keys are 64 hex digits and
 * say nothing; texts hold secrets. Errors: `CACHE_UNSAFE`, `CACHE_LOCK_TIMEOUT`, `FILE_ACCESS`, `CREDENTIAL_SOURCE`, as far as
 * the kind can have them.
 */
export interface SessionStore {
  /** The text under that key; undefined when there is none, or none that can be believed. */
  read(key: string): Promise<string | undefined>
  /** Keeps the text in place of an older one, wholly or not at all. */
  write(key: string, text: string): Promise<void>
  /** Removes the text so that it cannot be read again. */
  remove(key: string): Promise<void>
  /**
   * Runs while nobody else, in this process or another, runs for the same key; not to be called from inside `run`. What
   * `run` takes for more than a minute may meet another's, where processes can be killed. Errors: those of `run`, `ABORTED`.
   */
  exclusively<T>(key: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T>
}
