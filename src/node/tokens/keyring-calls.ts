/** Counts calls of the system keyring, which may wait for a person who unlocks it. */

let waiting = 0

/** True while the keyring has not answered: `process.exit` would wait for it. */
export function isKeyringWaiting(): boolean {
  return waiting > 0
}

/** Returns the answer of the keyring. */
export async function keyringAnswer<T>(answer: Promise<T>): Promise<T> {
  waiting++
  try {
    return await answer
  } finally {
    waiting--
  }
}
