import { sha256 } from '../archive.ts'
import { refusalOf, type Step } from '../step.ts'

/** The authorized request is all that another client needs: sent as it is, and once, by the platform's `fetch`, it gets the file. */
export const authorizeStep: Step = {
  title: 'authorize',
  async run({ targets, user, servers }) {
    const auth = await user.auth(servers.root)
    const failures: string[] = []
    for (const { label, target, holding } of targets) {
      const refusal = await refusalOf(async () => {
        const { method, url, headers, credential = 'no entry' } = await auth.authorize(target)
        const response = await fetch(url, { method, headers, redirect: 'error' })
        const right = sha256(new Uint8Array(await response.arrayBuffer())) === servers.digestAt(holding.href)
        if (!right || credential !== holding.credential) failures.push(`${label}: ${response.status} with ${credential}, or other bytes`)
      })
      if (refusal) failures.push(`${label}: ${refusal.code} ${refusal.message}`)
    }
    const right = targets.length - failures.length
    return { summary: `${targets.length} requests, each sent once by a plain fetch: ${right} files with the right SHA-256`, failures }
  },
}
