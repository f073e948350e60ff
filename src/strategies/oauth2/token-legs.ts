import type { AuthFlow } from '../../auth/flow.ts'
import type { Origin } from '../../auth/strategy.ts'
import type { HttpRequest } from '../../http/message.ts'
import type { OAuth2Context, OAuth2Credential } from './credential.ts'
import { presented } from './present.ts'
import { hostsOf, publishedAt } from './server.ts'
import { renewTokens, resolveTokens } from './token.ts'

/** The request with a token; one that is refused is renewed once. Errors: those of the grant, `LOGIN_REQUIRED`. */
export async function* tokenLegs(request: HttpRequest, context: OAuth2Context): AuthFlow {
  const set = await resolveTokens(context)
  const response = yield* presented(request, set, context)
  if (response.status !== 401) return
  yield* presented(request, await renewTokens(context, set), context)
}

/** Where an entry's secrets may go: the token endpoint first. */
export function endpointsOf(credential: OAuth2Credential): readonly (string | Origin)[] {
  const { tokenUrl, refreshUrl, deviceAuthorizationUrl, revocationUrl, jwksUrl } = credential
  const published = publishedAt(credential)
  const own = [tokenUrl, refreshUrl, deviceAuthorizationUrl, revocationUrl, jwksUrl].filter((url) => url !== undefined)
  if (published === undefined) return own
  const found = { origin: new URL(published).origin, publishedAt: published }
  const hosts = hostsOf(credential).map((host) => ({ origin: new URL(host).origin, publishedAt: host }))
  return tokenUrl === undefined ? [found, ...hosts, ...own] : [...own, found, ...hosts]
}
