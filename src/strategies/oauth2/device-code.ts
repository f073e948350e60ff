/** The device authorization grant (RFC 8628): the user logs in on any device and types a code. */

import type { DevicePrompt, Interaction } from '../../auth/auth.ts'
import { CredentialError, isAuthError } from '../../errors.ts'
import { isLoopbackHost } from '../../http/url.ts'
import { sleep } from '../../net/cancellation.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { callEndpoint } from './client.ts'
import type { OAuth2Context } from './credential.ts'
import { invalidAnswer, loginDenied, loginRequired, withAdvice } from './endpoint.ts'
import { granted, requested } from './grants.ts'
import type { TokenSet } from './token.ts'

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'
/** Seconds. */
const INTERVAL = { default: 5, least: 1, most: 60 }
const LIFE = { default: 600, least: 60, most: 1800 }

/**
 * Shows URL and code and polls until the user has finished: every five seconds or as the server says, more slowly when it
 * asks for that.
 *
 * Errors: `LOGIN_REQUIRED` when nothing can be shown, `LOGIN_DENIED`, `LOGIN_TIMEOUT`, `OAUTH_RESPONSE_INVALID`, `OAUTH_ERROR`.
 */
export async function deviceCode(context: OAuth2Context, interaction: Interaction): Promise<TokenSet> {
  const { credential, clock } = context
  if (!interaction.device) throw loginRequired(credential)
  const begun = clock.now()
  const { result } = await callEndpoint(context, { endpoint: 'device endpoint' }, ({ library, configuration }) =>
    library.initiateDeviceAuthorization(configuration, requested(credential)),
  ).catch((error: unknown) => {
    throw withOtherWay(error, context)
  })
  const expiresAt = begun + 1000 * clamped(result.expires_in, LIFE)
  await interaction.device(promptOf(result, expiresAt, context))
  let interval = clamped(result.interval, INTERVAL)
  while (clock.now() + interval * 1000 < expiresAt) {
    await sleep(interval * 1000, clock, context.signal)
    const outcome = await asked(context, result.device_code)
    if (typeof outcome === 'object') return outcome
    if (outcome === 'slow_down') interval += 5
    if (outcome === 'no answer') interval = Math.min(INTERVAL.most, interval * 2)
  }
  throw new CredentialError('LOGIN_TIMEOUT', `the login for "${credential.id}" timed out`, { credential: credential.id })
}

/** Polls once (§3.4, §3.5). */
async function asked(context: OAuth2Context, code: string): Promise<TokenSet | 'pending' | 'slow_down' | 'no answer'> {
  const { id } = context.credential
  try {
    return await granted(
      context,
      ({ library, configuration, options }) => library.genericGrantRequest(configuration, GRANT_TYPE, { device_code: code }, options),
      { once: true, secrets: [code] },
    )
  } catch (error) {
    if (!isAuthError(error)) throw error
    if (error.actual === 'authorization_pending') return 'pending'
    if (error.actual === 'slow_down') return 'slow_down'
    if (error.retryable || error.code.startsWith('TIMEOUT_') || error.code.startsWith('NETWORK_')) return 'no answer'
    if (error.code !== 'OAUTH_ERROR') throw error
    if (error.actual === 'access_denied') throw loginDenied(id)
    if (error.actual === 'expired_token') {
      throw new CredentialError('LOGIN_TIMEOUT', `the login for "${id}" timed out`, { credential: id })
    }
    throw withOtherWay(error, context)
  }
}

/** Adds a hint for the login by browser: many clients are registered for that only. */
function withOtherWay(error: unknown, { credential: { id } }: OAuth2Context): unknown {
  if (!isAuthError(error) || !(error.code === 'OAUTH_ERROR' || /^HTTP_4/.test(error.code)) || error.retryable) return error
  return withAdvice(error, `if the client does not support the device flow: stac-auth login ${id} --browser`)
}

type Answer = { readonly verification_uri: string; readonly user_code: string; readonly verification_uri_complete?: string }

/** Returns a URL that is safe to open and a code of plain characters. */
function promptOf(answer: Answer, expiresAt: number, { credential: { id } }: OAuth2Context): DevicePrompt {
  const complete = answer.verification_uri_complete
  const isCode = /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/.test(answer.user_code)
  if (!isCode || !isShowable(answer.verification_uri)) {
    throw invalidAnswer({ credential: id, url: '', name: 'device endpoint' }, 'has no URL and code that can be shown')
  }
  return {
    credential: id,
    verificationUri: new URL(answer.verification_uri).href,
    userCode: answer.user_code,
    ...(complete !== undefined && isShowable(complete) && { verificationUriComplete: new URL(complete).href }),
    expiresAt,
  }
}

function isShowable(uri: string): boolean {
  if (!canParseUrl(uri) || uri.length > 2048) return false
  const { protocol, hostname, username, password } = new URL(uri)
  if (username || password) return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
}

function clamped(value: unknown, { default: usual, least, most }: { default: number; least: number; most: number }): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : usual
}
