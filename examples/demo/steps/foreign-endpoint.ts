import { type AuthScheme, isOAuth2Scheme, isSignedUrlScheme } from 'stac-auth'
import { rerouting } from '../rerouting.ts'
import type { Step } from '../step.ts'

/** A token endpoint or signing API on a host which no credential names gets nothing. */
export const foreignEndpointStep: Step = {
  title: 'other endpoint',
  run(stage) {
    const { evil } = stage.servers
    const changes = stage.targets.flatMap((on) => endpointsOf(on.holding.scheme).map((from) => ({ on, from, to: `${evil.origin}/token` })))
    return rerouting(changes, 'CREDENTIAL_ENDPOINT_UNTRUSTED', stage)
  },
}

function endpointsOf(scheme: AuthScheme): readonly string[] {
  if (isOAuth2Scheme(scheme)) return Object.values(scheme.flows).flatMap(({ tokenUrl }) => tokenUrl ?? [])
  return isSignedUrlScheme(scheme) ? Object.values(scheme.flows).flatMap(({ authorizationApi }) => authorizationApi ?? []) : []
}
