import { rerouting } from '../rerouting.ts'
import type { Step } from '../step.ts'

/** An asset or link that has moved to a host which no credential names gets nothing. */
export const foreignHostStep: Step = {
  title: 'other host',
  run(stage) {
    const { evil } = stage.servers
    const changes = stage.targets.map((on) => ({ on, from: on.holding.href, to: evil.origin + new URL(on.holding.href).pathname }))
    return rerouting(changes, 'CREDENTIAL_TARGET_UNTRUSTED', stage)
  },
}
