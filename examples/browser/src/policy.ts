/** Requests that the page's own Content-Security-Policy blocks: scripts are told only that they failed. */
import type { Refused } from './access.ts'

interface Blocked {
  readonly origin: string
  readonly directive: string
  readonly at: number
}

let last: Blocked | undefined
/** Milliseconds until the browser has told of a request that has just failed. */
const DELAY = 100
/** Milliseconds for which a failure is put down to it. */
const RECENT = 1500

/** Begins to listen. */
export function watchPolicy(): void {
  document.addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective, disposition }) => {
    if (disposition !== 'enforce' || !URL.canParse(blockedURI)) return
    last = { origin: new URL(blockedURI).origin, directive: effectiveDirective, at: performance.now() }
  })
}

/** Returns why a request that has just failed was blocked, if the page's policy did that. */
export async function blockedByPolicy(): Promise<Refused | undefined> {
  await new Promise((resolve) => setTimeout(resolve, DELAY))
  if (!last || performance.now() - last.at > RECENT) return undefined
  const { origin, directive } = last
  // The next failure has another reason.
  last = undefined
  return {
    code: 'BLOCKED_BY_PAGE',
    message: `this page's Content-Security-Policy does not allow ${origin}`,
    hint: `Whoever runs this page can allow it: add ${origin} to ${directive} of the policy.`,
  }
}
