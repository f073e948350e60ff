import { sha256 } from '../archive.ts'
import { refusalOf, type Step } from '../step.ts'

/** The authorized request is all that another client needs: sent as it is, and once, by the platform's `fetch`, it gets the file. */
export const authorizeStep: Step = {
  title: 'authorize',
  async run({ targets, user, servers }) {
    const auth = await user.auth(servers.root)
    const failures: string[] = []
    const free = targets.filter(({ holding }) => !holding.bound)
    for (const { label, target, holding } of free) {
      const refusal = await refusalOf(async () => {
        const { method, url, headers, credential = 'no credential' } = await auth.authorize(target)
        const response = await fetch(url, { method, headers, redirect: 'error' })
        const right = sha256(new Uint8Array(await response.arrayBuffer())) === servers.digestAt(holding.href)
        if (!right || credential !== holding.credential) failures.push(`${label}: ${response.status} with ${credential}, or other bytes`)
      })
      if (refusal) failures.push(`${label}: ${refusal.code} ${refusal.message}`)
    }
    const right = free.length - failures.length
    const bound = targets.filter(({ holding }) => holding.bound)
    for (const { label, target } of bound) {
      const refusal = await refusalOf(() => auth.authorize(target))
      if (refusal?.code !== 'SCHEME_UNSUPPORTED')
        failures.push(`${label}: ${refusal?.code ?? 'handed out'}, though it belongs to a connection`)
    }
    const summary = `${free.length} requests, each sent once by a plain fetch: ${right} files with the right SHA-256`
    return { summary: `${summary}; ${bound.length} bound to its connection, not handed out`, failures }
  },
}
