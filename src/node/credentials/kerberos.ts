/** Kerberos tickets of the system, through the optional package `kerberos` and the GSS-API library that it finds. */
import { AbortedError, type AuthError, CredentialError, ProtocolError, UnsupportedError } from '../../errors.ts'
import type { SecurityContext, SecurityRequest } from '../../platform/platform.ts'

/** What of the package is used. */
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
  /** Base64 in and out; an empty text begins. */
  step(challenge: string): Promise<string | null>
}

/**
 * A security context with SPNEGO that demands the server's proof, with the tickets of `KRB5CCNAME` or the system's cache. Credentials
 * are delegated only on request. Errors: `SCHEME_UNSUPPORTED` without the package; those of its steps tell only which kind of trouble it
 * is, never what the library said; `ABORTED`.
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

/** What the library does cannot be taken back, but nobody has to wait for it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const leave = () => reject(new AbortedError(signal.reason))
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

function importKerberos(): Promise<Kerberos> {
  const name: string = 'kerberos'
  return import(name)
}

/** Installed, but its compiled part or the system's library is not there. */
const BROKEN = /^(?:MODULE_NOT_FOUND|ERR_DLOPEN_FAILED)$|^Opening library /

function unavailable({ id }: SecurityRequest, error: Partial<NodeJS.ErrnoException> | undefined): UnsupportedError {
  const isBroken = BROKEN.test(error?.code ?? '') || BROKEN.test(error?.message ?? '')
  const message = isBroken ? 'the optional package kerberos cannot be loaded' : 'Kerberos tickets need the optional package kerberos'
  const hint = isBroken ? 'install the GSS-API library of the system, then: npm rebuild kerberos' : 'npm install kerberos'
  return new UnsupportedError('SCHEME_UNSUPPORTED', message, { credential: id, hint })
}

interface Trouble {
  /** What the library says, in the words of the C locale. */
  readonly words: RegExp
  readonly code: 'CLOCK_SKEW' | 'LOGIN_REQUIRED' | 'CREDENTIAL_SOURCE'
  message(wanted: SecurityRequest): string
  readonly hint: string
  readonly retryable?: boolean
}

/** The first whose words are there counts. */
const TROUBLES: readonly Trouble[] = [
  {
    words: /\bskew\b/i,
    code: 'CLOCK_SKEW',
    message: ({ service }) => `the clocks of this machine and of ${service} or its realm disagree`,
    hint: 'set the clock of this machine',
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
    message: ({ service }) => `cannot get a Kerberos ticket for ${service}: no server of the realm is reachable`,
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

/** The known trouble behind a foreign error, which may name files and people and is not passed on. */
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
  return new ProtocolError('AUTH_SERVER_UNPROVEN', `the token of ${service} does not belong to this exchange`, { credential: id })
}

function of(principal: string | undefined): string {
  return principal === undefined ? '' : ` of ${principal}`
}
