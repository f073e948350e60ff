/** Kerberos tickets of the system, through the optional package `kerberos` and the system's GSS-API library. */
import { type AuthError, CredentialError, ProtocolError, UnsupportedError } from '../../errors.ts'
import { unlessAborted } from '../../net/cancellation.ts'
import type { SecurityContext, SecurityRequest } from '../../platform/platform.ts'
import { installCommand } from '../base/system-error.ts'

/** The functions of the package that are used. */
export interface Kerberos {
  readonly GSS_C_DELEG_FLAG: number
  readonly GSS_C_MUTUAL_FLAG: number
  readonly GSS_MECH_OID_SPNEGO: number
  initializeClient(service: string, options: ClientOptions): Promise<KerberosClient>
}

interface ClientOptions {
  readonly flags: number
  readonly mechOID: number
  readonly principal?: string
}

interface KerberosClient {
  readonly contextComplete: boolean
  /** Takes and returns base64; an empty string starts the exchange. */
  step(challenge: string): Promise<string | null>
}

/**
 * Returns a security context with SPNEGO and mutual authentication, with the tickets of `KRB5CCNAME` or the system's cache. Credentials
 * are delegated only on request.
 *
 * Errors: `SCHEME_UNSUPPORTED` without the package; errors of its steps state only the kind of failure, never the text of the library;
 * `ABORTED`.
 */
export async function kerberosContext(wanted: SecurityRequest, load: () => Promise<Kerberos> = importKerberos): Promise<SecurityContext> {
  const { service, principal, delegate = false, signal } = wanted
  const kerberos = await load().catch((error) => {
    throw unavailable(wanted, error)
  })
  const flags = kerberos.GSS_C_MUTUAL_FLAG | (delegate ? kerberos.GSS_C_DELEG_FLAG : 0)
  const options = { flags, mechOID: kerberos.GSS_MECH_OID_SPNEGO, ...(principal !== undefined && { principal }) }
  const beginning = kerberos.initializeClient(service, options).catch((error) => {
    throw troubleOf(error, wanted) ?? noToken(wanted)
  })
  const client = await unlessAborted(beginning, signal)
  return {
    get isComplete() {
      return client.contextComplete
    },
    step: async (token = '') => {
      const answer = client.step(token).catch((error) => {
        throw troubleOf(error, wanted) ?? (token === '' ? noToken(wanted) : foreignToken(wanted))
      })
      const ours = (await unlessAborted(answer, signal)) || undefined
      if (ours === undefined && token === '') throw noToken(wanted)
      return ours
    },
  }
}

/** Loads the optional package, which bundlers leave out: it has a native part. */
function importKerberos(): Promise<Kerberos> {
  // @ts-expect-error: its types are not installed
  const loaded: Promise<Kerberos> = import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ 'kerberos').catch(
    // Only with this do bundlers accept that it is missing.
    (error) => {
      throw error
    },
  )
  return loaded
}

/** Matches the error of an installed package whose native part or system library cannot be loaded. */
const BROKEN = /^(?:MODULE_NOT_FOUND|ERR_DLOPEN_FAILED)$|^Opening library /

function unavailable({ id }: SecurityRequest, error: Partial<NodeJS.ErrnoException> | undefined): UnsupportedError {
  const isBroken = BROKEN.test(error?.code ?? '') || BROKEN.test(error?.message ?? '')
  const message = isBroken ? 'the optional package kerberos cannot be loaded' : 'Kerberos tickets need the optional package kerberos'
  const hint = isBroken ? 'install the GSS-API library of the system, then: npm rebuild kerberos' : installCommand(['kerberos'])
  return new UnsupportedError('SCHEME_UNSUPPORTED', message, { credential: id, hint })
}

interface Trouble {
  /** Error texts of the library in the C locale. */
  readonly words: RegExp
  readonly code: 'CLOCK_SKEW' | 'LOGIN_REQUIRED' | 'CREDENTIAL_SOURCE'
  message(wanted: SecurityRequest): string
  readonly hint: string
  readonly retryable?: boolean
}

/** The first matching pattern applies. */
const TROUBLES: readonly Trouble[] = [
  {
    words: /\bskew\b/i,
    code: 'CLOCK_SKEW',
    message: ({ service }) => `the Kerberos ticket was refused: the clocks of this machine and of ${service} or its realm differ`,
    hint: 'correct the clock of this machine',
  },
  {
    words: /\bexpired\b/i,
    code: 'LOGIN_REQUIRED',
    message: ({ principal }) => `the Kerberos ticket${of(principal)} has expired`,
    hint: 'kinit',
  },
  {
    words: /not found in Kerberos database/i,
    code: 'CREDENTIAL_SOURCE',
    message: ({ service }) => `the Kerberos realm does not know the service ${service}`,
    hint: 'use the host name that the service is registered under',
  },
  {
    words: /cannot (?:contact|find|resolve)\b.*\bKDC\b/i,
    code: 'CREDENTIAL_SOURCE',
    message: ({ service }) => `the Kerberos ticket for ${service} cannot be obtained: no server of the realm is reachable`,
    hint: 'check the network and krb5.conf',
    retryable: true,
  },
  {
    words: /no (?:kerberos )?credentials|credentials? cache|client principal|mechanisms to negotiate/i,
    code: 'LOGIN_REQUIRED',
    message: ({ principal }) => `there is no Kerberos ticket${of(principal)}`,
    hint: 'kinit',
  },
]

/** Converts an error of the library. Its text may name files and users and is not used. */
function troubleOf(error: unknown, wanted: SecurityRequest): AuthError | undefined {
  const text = error instanceof Error ? error.message : ''
  const trouble = TROUBLES.find(({ words }) => words.test(text))
  if (!trouble) return undefined
  const { code, hint, retryable = false } = trouble
  return new CredentialError(code, trouble.message(wanted), { credential: wanted.id, hint, retryable })
}

function noToken({ id, service }: SecurityRequest): AuthError {
  const hint = `to see why, run: kvno ${service.replace('@', '/')}`
  return new CredentialError('CREDENTIAL_SOURCE', `Kerberos returned no token for ${service}`, { credential: id, hint })
}

function foreignToken({ id, service }: SecurityRequest): AuthError {
  return new ProtocolError('AUTH_SERVER_UNPROVEN', `the token of ${service} is invalid: it does not belong to this exchange`, {
    credential: id,
  })
}

function of(principal: string | undefined): string {
  return principal === undefined ? '' : ` of ${principal}`
}
