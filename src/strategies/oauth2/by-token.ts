import type { Leg } from '../../auth/flow.ts'
import type { Interaction } from '../../auth/interaction.ts'
import type { HttpRequest } from '../../http/message.ts'
import type { OAuth2Context, OAuth2PeekContext } from './credential.ts'
import { bearerLeg } from './present.ts'
import { hindrance, knownTokens, tokenOf, tokenState } from './token.ts'
import { endpointsOf, tokenLegs } from './token-legs.ts'

/** What `oauth2` and `openIdConnect` do alike: everything but reading schemes and entries. */
export const byToken = {
  endpoints: endpointsOf,
  peek(request: HttpRequest, context: OAuth2PeekContext): Leg | undefined {
    const set = knownTokens(context)
    return set && set.tokenType !== 'DPoP' ? bearerLeg(request, set, context.credential) : undefined
  },
  authorize: tokenLegs,
  token: tokenOf,
  hindrance,
  tokenState,
  login: async (context: OAuth2Context, interaction: Interaction) => (await import('./login.ts')).login(context, interaction),
  logout: async (context: OAuth2Context, interaction?: Pick<Interaction, 'end'>) =>
    (await import('./login.ts')).logout(context, interaction),
} as const
