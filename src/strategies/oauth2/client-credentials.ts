import type { ClientAuth } from 'openid-client'
import type { Token } from '../../auth/strategy.ts'
import { base64 } from '../../crypto/base64.ts'
import { reveal } from '../reveal.ts'
import type { OAuth2Context } from './token.ts'
import { requestToken } from './token-endpoint.ts'

/**
 * A token by the client credentials grant (RFC 6749 §4.4), with the entry's scopes, resource and audience.
 *
 * Errors: those of the token endpoint (`OAUTH_ERROR`, `OAUTH_RESPONSE_INVALID`, `OAUTH_TOKEN_TYPE`, `OAUTH_REDIRECT`).
 */
export async function clientCredentials(context: OAuth2Context): Promise<Token> {
  const { credential } = context
  const client = await import('openid-client')
  const secret = credential.clientSecret && (await reveal(credential.clientSecret, 'clientSecret', credential))
  const authentication = {
    basic: basicAuthentication(credential.clientId, secret ?? ''),
    post: client.ClientSecretPost(secret),
    none: client.None(),
  }[credential.clientAuthentication ?? 'basic']
  const tokenUrl = credential.tokenUrl ?? ''
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl }
  const configuration = new client.Configuration(server, credential.clientId, undefined, authentication)
  // Entries may name http: only on loopback, which was checked on reading.
  if (tokenUrl.startsWith('http:')) client.allowInsecureRequests(configuration)
  const { scopes, resource, audience } = credential
  const parameters = { ...(scopes?.length && { scope: scopes.join(' ') }), ...(resource && { resource }), ...(audience && { audience }) }
  return requestToken(context, secret, (fetch) => {
    configuration[client.customFetch] = fetch
    return client.clientCredentialsGrant(configuration, parameters)
  })
}

/**
 * Client id and secret as RFC 6749 §2.3.1 and Appendix B encode them. `-`, `.` and `_` stay as they are, which also suits
 * servers that do not decode.
 */
function basicAuthentication(clientId: string, secret: string): ClientAuth {
  const encoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
  const credentials = base64(new TextEncoder().encode(`${encoded(clientId)}:${encoded(secret)}`))
  return (_server, _client, _body, headers) => headers.set('authorization', `Basic ${credentials}`)
}
