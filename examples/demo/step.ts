/** What the parts of the demo are given and give back. */
import { isAuthError } from 'stac-auth'
import type { Page, Protected } from './reading.ts'
import type { Servers } from './servers.ts'
import type { User } from './user.ts'

export interface Stage {
  readonly servers: Servers
  readonly user: User
  /** Has the same credentials with wrong secrets in them. */
  readonly stranger: User
  readonly pages: readonly Page[]
  readonly targets: readonly Protected[]
}

/** What a step found out; it has succeeded when nothing failed. */
export interface Outcome {
  /** One line: how many of what. */
  readonly summary: string
  /** Details to show. */
  readonly lines?: readonly string[]
  readonly failures: readonly string[]
}

export interface Step {
  readonly title: string
  run(stage: Stage): Promise<Outcome>
}

/** Code, status and message of a refusal; undefined when there was none. */
export async function refusalOf(action: () => Promise<unknown>): Promise<{ code: string; message: string } | undefined> {
  try {
    await action()
    return undefined
  } catch (error) {
    if (isAuthError(error)) return error
    throw error
  }
}

/** How often each text occurs: `10 AUTH_REJECTED, 2 OAUTH_ERROR`. */
export function tally(texts: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].map(([text, count]) => `${count} ${text}`).join(', ') || 'none'
}
