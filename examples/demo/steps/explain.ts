import type { Step } from '../step.ts'

/** Each target is reachable with the credential meant for it, and nothing is sent to find that out. */
export const explainStep: Step = {
  title: 'explain',
  async run({ targets, user, servers }) {
    const auth = await user.auth(servers.root)
    const before = servers.requests()
    const missing = servers.holdings.filter((holding) => !targets.some((target) => target.holding === holding))
    const failures = missing.map(({ name }) => `${name}: not in the catalog`)
    let usable = 0
    for (const { label, target, holding } of targets) {
      const [ref] = (await auth.explain(target)).refs
      if (ref?.credential === holding.credential && ref.code === undefined) usable++
      else failures.push(`${label}: ${ref?.code ?? 'no code'}, entry ${ref?.credential ?? 'none'} instead of ${holding.credential}`)
    }
    const sent = servers.requests() - before
    if (sent) failures.push(`${sent} requests were sent`)
    return { summary: `${targets.length} targets, ${usable} with a usable credential, ${sent} requests`, failures }
  },
}
