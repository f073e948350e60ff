/** Exit codes of the command line, and which error code ends in which. */

export const EXIT = {
  done: 0,
  findings: 1,
  usage: 2,
  credentials: 3,
  refused: 4,
  network: 5,
  files: 6,
  internal: 70,
  interrupted: 130,
} as const

const CODES: Readonly<Record<number, string>> = {
  [EXIT.done]:
    'SCOPE_NOT_GRANTED SCOPE_REDUCED ID_TOKEN_UNUSED PARAM_PATTERN_UNSUPPORTED CONTENT_TYPE_UNEXPECTED CONTENT_CODING_UNKNOWN CACHE_MEMORY_ONLY ' +
    'FINDINGS_UNLISTED',
  [EXIT.usage]:
    'USAGE CONFIG_INVALID CREDENTIAL_VALUE_INVALID TARGET_NOT_FOUND REQUEST_INVALID REQUEST_TOO_LARGE VERB_NOT_ALLOWED FORM_EMPTY_VALUE',
  [EXIT.credentials]:
    'NO_CREDENTIAL LOGIN_REQUIRED LOGIN_DENIED LOGIN_PAGE LOGIN_TIMEOUT POPUP_BLOCKED CREDENTIAL_SOURCE AUTH_REJECTED AUTH_CHALLENGE_UNSUPPORTED OAUTH_ERROR ' +
    'HTTP_401 HTTP_403',
  [EXIT.refused]:
    'CREDENTIAL_TARGET_UNTRUSTED CREDENTIAL_ENDPOINT_UNTRUSTED SCHEME_MISMATCH SCHEME_CHANGED SCHEME_NOT_FOUND SCHEME_INVALID ' +
    'SCHEMES_INVALID SCHEME_CYCLE SCHEME_UNSUPPORTED FLOW_INVALID URL_INVALID URL_SCHEME_FORBIDDEN URL_HAS_USERINFO URL_INSECURE ' +
    'URL_ADDRESS_FORBIDDEN HEADER_NAME_FORBIDDEN COOKIE_NAME_INVALID QUERY_NAME_CONFLICT LINK_REQUEST_FORBIDDEN PARAM_FORBIDDEN ' +
    'PARAM_UNBOUND PARAM_SCHEMA_REF PARAM_SCHEMA_KEYWORD PARAM_SCHEMA_VALUE SIGNED_URL_FORBIDDEN RESPONSE_FIELD_MISSING ' +
    'REDIRECT_CROSS_ORIGIN REDIRECT_DOWNGRADE REDIRECT_INVALID REDIRECT_LOOP REDIRECT_TOO_MANY OAUTH_REDIRECT SIGN_REDIRECT ' +
    'OAUTH_ISSUER_MISMATCH OIDC_ID_TOKEN AUTH_SERVER_UNPROVEN TLS_DISABLED UNSUPPORTED_IN_BROWSER DOC_TOO_DEEP DOC_TOO_LARGE DOC_TOO_MANY',
  [EXIT.network]:
    'CORS_OR_NETWORK RATE_LIMITED RESPONSE_TOO_LARGE OAUTH_RESPONSE_INVALID OAUTH_TOKEN_TYPE CLOCK_SKEW RANGE_INVALID FILE_INCOMPLETE ' +
    'CRAWL_LIMIT CRAWL_OTHER_ORIGIN RESPONSE_INVALID RESPONSE_TRUNCATED MEDIA_TYPE_UNSUPPORTED PAGE_LOOP DOCUMENT_FAILED ' +
    'DOCUMENT_NOT_READY DOCUMENT_GONE JOB_FAILED RETRY_BUDGET BATCH_INCOMPLETE',
  [EXIT.files]:
    'PATH_EXISTS PATH_UNSAFE PATH_BUSY PATH_COLLISION DISK_FULL FILE_ACCESS FILE_CHANGED FILE_INTEGRITY CACHE_UNSAFE CACHE_LOCK_TIMEOUT CACHE_NOT_WRITABLE ' +
    'DOC_NOT_JSON DOC_NOT_UTF8',
  [EXIT.interrupted]: 'ABORTED',
}

const EXITS = new Map(Object.entries(CODES).flatMap(([exit, codes]) => codes.split(' ').map((code) => [code, Number(exit)] as const)))

/** The exit code of an error code; codes made from a status or a cause go by their prefix, unknown ones are 70. */
export function exitCodeOf(code: string): number {
  return EXITS.get(code) ?? (/^(?:NETWORK|TLS|TIMEOUT|PROXY|HTTP)_/.test(code) ? EXIT.network : EXIT.internal)
}

/** An internal failure outranks all, then interrupted, usage, files, network, refused, credentials, findings. */
export const EXIT_ORDER: readonly number[] = [
  EXIT.internal,
  143,
  EXIT.interrupted,
  EXIT.usage,
  EXIT.files,
  EXIT.network,
  EXIT.refused,
  EXIT.credentials,
  EXIT.findings,
]

/** The one exit code of several outcomes. */
export function worstExit(codes: Iterable<number>): number {
  const all = new Set(codes)
  return EXIT_ORDER.find((code) => all.has(code)) ?? EXIT.done
}

/** 143 for `SIGTERM`, and for `SIGHUP`, which asks for the same; else 130. */
export function exitOfSignal(signal: AbortSignal): number {
  return signal.reason === 'SIGTERM' || signal.reason === 'SIGHUP' ? 143 : EXIT.interrupted
}
