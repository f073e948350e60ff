/** What a hostile catalog would do: the same document with one URL changed. Nothing may follow the change. */
import { altered, type Protected } from './reading.ts'
import { type Outcome, refusalOf, type Stage, tally } from './step.ts'

export interface Change {
  readonly on: Protected
  /** The URL that the document has. */
  readonly from: string
  readonly to: string
}

/** Tries each changed document; `code` is what must refuse it, and the hostile host must not even be dialled. */
export async function rerouting(changes: readonly Change[], code: string, { user, servers: { root, evil } }: Stage): Promise<Outcome> {
  // The user typed the URL of the hostile host: only the credentials stand between it and the secrets.
  const auth = await user.auth(root, evil.origin)
  const failures: string[] = []
  const codes: string[] = []
  for (const { on, from, to } of changes) {
    const target = altered(on, from, to)
    for (const act of [auth.authorize, auth.fetch]) {
      const refusal = await refusalOf(() => act(target))
      codes.push(refusal?.code ?? 'not refused')
      if (refusal?.code !== code) failures.push(`${on.label}: ${refusal?.code ?? 'sent'} instead of ${code}`)
    }
  }
  if (evil.connections) failures.push(`the other host got ${evil.connections} connections`)
  return { summary: `${changes.length} documents: ${tally(codes)}; the host got ${evil.connections} connections`, failures }
}
