import type { AuthFlow } from '../../auth/strategy.ts'
import { ConfigurationError } from '../../errors.ts'
import type { HttpRequest } from '../../http/message.ts'
import { accessToken } from '../credential-values.ts'
import { type BoundToken, boundSteps } from '../proof-of-possession.ts'
import { signingKey } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/** Sends a proof with each step (RFC 9449 §7.1). */
export async function* dpopFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  yield* boundSteps(request, await (context.input ? obtained(context, request.url) : given(context)), context)
}

async function given(context: HttpContext): Promise<BoundToken> {
  const key = await signingKey(context, ['ES256', 'EdDSA', 'RS256'])
  return { value: await accessToken(context.credential), key }
}

/** Returns the token and its key, also from the credential in `with`. Errors: `CONFIG_INVALID` when its tokens are not bound to a key. */
async function obtained({ input, credential }: HttpContext, url: string): Promise<BoundToken> {
  const token = await input?.token(url)
  if (token?.key) return { value: token.value, key: token.key, expiresAt: token.expiresAt }
  throw new ConfigurationError('CONFIG_INVALID', `tokens of "${credential.with}" are not bound to a key: it needs "dpop": true`, {
    credential: credential.id,
  })
}
