/** What a page asks for by itself: what requests lack, without what the user does without. */
import type { LiveChange, LiveCredentials } from '../browser/live-auth.ts'

export class Asking {
  /** Ids of the credentials that the user does without. */
  readonly #declined = new Set<string>()

  /** Returns true while requests lack something that the user does not do without. */
  isNeeded(credentials: Pick<LiveCredentials, 'needs'> | undefined): boolean {
    return credentials?.needs().some(({ credential }) => !this.#declined.has(credential)) === true
  }

  /** Follows a change: who removes a credential does without it, until it is there again. */
  follow({ kind, credential, tab }: LiveChange, credentials: Pick<LiveCredentials, 'needs'>): void {
    const isNeeded = credentials.needs().some((need) => need.credential === credential)
    if (kind === 'removed' && tab === 'this') this.#declined.add(credential)
    else if (kind !== 'removed' && !isNeeded) this.#declined.delete(credential)
  }

  /** The user does without what requests lack now. */
  decline(credentials: Pick<LiveCredentials, 'needs'> | undefined): void {
    for (const { credential } of credentials?.needs() ?? []) this.#declined.add(credential)
  }

  /** The user wants to be asked for everything again. */
  reset(): void {
    this.#declined.clear()
  }
}
