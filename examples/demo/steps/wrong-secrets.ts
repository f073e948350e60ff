import { refusalOf, type Step, tally } from '../step.ts'

/** With a wrong secret in each credential every target is refused, and no server gives a file away. */
export const wrongSecretsStep: Step = {
  title: 'wrong secrets',
  async run({ targets, stranger, servers }) {
    const auth = await stranger.auth(servers.root)
    const before = servers.deliveries()
    const codes: string[] = []
    const failures: string[] = []
    for (const { label, target, holding } of targets) {
      const code = await outcomeOf(() => auth.fetch(target))
      if (code) codes.push(code)
      if (code !== holding.refusal) failures.push(`${label}: ${code ?? 'the file came'} instead of ${holding.refusal}`)
    }
    const delivered = servers.deliveries() - before
    if (delivered) failures.push(`${delivered} files were given away`)
    return { summary: `${codes.length} of ${targets.length} refused (${tally(codes)}), ${delivered} files given away`, failures }
  },
}

/** The code of the refusal, ours or the server's; undefined when the file came. */
async function outcomeOf(fetched: () => Promise<Response>): Promise<string | undefined> {
  let status = 200
  const refusal = await refusalOf(async () => {
    const response = await fetched()
    status = response.status
    await response.body?.cancel()
  })
  return refusal?.code ?? (status === 200 ? undefined : `HTTP_${status}`)
}
