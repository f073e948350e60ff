import { refusalOf, type Step, tally } from '../step.ts'

/** With a wrong secret in each entry every target is refused, and no server gives a file away. */
export const wrongSecretsStep: Step = {
  title: 'wrong secrets',
  async run({ targets, stranger, servers }) {
    const auth = await stranger.auth(servers.root)
    const before = servers.deliveries()
    const codes: string[] = []
    const failures: string[] = []
    for (const { label, target, holding } of targets) {
      const refusal = await refusalOf(() => auth.fetch(target))
      if (refusal) codes.push(refusal.code)
      if (refusal?.code !== holding.refusal) failures.push(`${label}: ${refusal?.code ?? 'the file came'} instead of ${holding.refusal}`)
    }
    const delivered = servers.deliveries() - before
    if (delivered) failures.push(`${delivered} files were given away`)
    return { summary: `${codes.length} of ${targets.length} refused (${tally(codes)}), ${delivered} files given away`, failures }
  },
}
