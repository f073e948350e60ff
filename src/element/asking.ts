/** What a page asks for by itself: what requests lack, without what the user does without. */
import type { LiveChange, LiveCredentials } from '../browser/live-auth.ts'

export class Asking {
  readonly #tell: (isNeeded: boolean) => void
  /** Ids of the credentials that the user does without. */
  readonly #declined = new Set<string>()
  #credentials: Pick<LiveCredentials, 'needs'> | undefined
  #isNeeded = false

  /** @param tell called when {@link isNeeded} changes */
  constructor(tell: (isNeeded: boolean) => void) {
    this.#tell = tell
  }

  /** True while requests lack something that the user does not do without. */
  get isNeeded(): boolean {
    return this.#isNeeded
  }

  /** Begins anew with the credentials of an engine. */
  begin(credentials: Pick<LiveCredentials, 'needs'> | undefined): void {
    this.#credentials = credentials
    this.#declined.clear()
  }

  /** Follows a change: who removes a credential does without it, until it is there again. */
  follow({ kind, credential, tab }: LiveChange): void {
    const isNeeded = this.#needs().includes(credential)
    if (kind === 'removed' && tab === 'this') this.#declined.add(credential)
    else if (kind !== 'removed' && !isNeeded) this.#declined.delete(credential)
    this.update()
  }

  /** The user does without what requests lack now. */
  decline(): void {
    for (const credential of this.#needs()) this.#declined.add(credential)
    this.update()
  }

  /** The user wants to be asked for everything again. */
  ask(): void {
    this.#declined.clear()
    this.update()
  }

  update(): void {
    const isNeeded = this.#needs().some((credential) => !this.#declined.has(credential))
    if (isNeeded === this.#isNeeded) return
    this.#isNeeded = isNeeded
    this.#tell(isNeeded)
  }

  #needs(): readonly string[] {
    return (this.#credentials?.needs() ?? []).map(({ credential }) => credential)
  }
}
