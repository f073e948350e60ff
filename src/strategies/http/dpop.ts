import { ConfigurationError } from '../../errors.ts'
import { type BoundToken, boundLegs } from '../proof-of-possession.ts'
import { accessToken } from './access-token.ts'
import { privateKeyField, signingKey } from './signing-key.ts'
import type { HttpContext, HttpWord } from './word.ts'

/** A token bound to a key (RFC 9449): both of the entry, or both of the `oauth2` or `openIdConnect` entry named in `with`. */
export const dpop: HttpWord = {
  word: 'dpop',
  fields: {
    token: { kind: 'secret', label: 'Access token', required: true },
    privateKey: { ...privateKeyField, required: true },
  },
  alternative: { by: ['with'], fields: { with: { kind: 'id', label: 'Entry that obtains token and key', required: true } } },
  about: { standard: 'RFC 9449', browsers: 'yes', legs: 'a; again for a nonce', testedAgainst: 'oidc-provider' },
  async *authorize(request, context) {
    yield* boundLegs(request, await (context.input ? obtained(context, request.url) : given(context)), context)
  },
}

async function given(context: HttpContext): Promise<BoundToken> {
  const key = await signingKey(context, ['ES256', 'EdDSA', 'RS256'])
  return { value: await accessToken(context.credential), key }
}

/** Errors: `CONFIG_INVALID` when that entry's tokens are not bound to a key. */
async function obtained({ input, credential }: HttpContext, url: string): Promise<BoundToken> {
  const token = await input?.token(url)
  if (token?.key) return { value: token.value, key: token.key, expiresAt: token.expiresAt }
  throw new ConfigurationError('CONFIG_INVALID', `"${credential.with}" gives tokens without a key: it needs "dpop": true`, {
    credential: credential.id,
  })
}
