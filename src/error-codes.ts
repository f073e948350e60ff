/**
 * All error and warning codes with their classes, the exit code of a command that fails with them, and advice.
 *
 * Web pages import only the types of this file; the documentation and the command line use the texts.
 */

/** A class of errors, or `warning` for codes that are also reported without an error. */
export type ErrorFamily =
  | 'AbortedError'
  | 'AuthError'
  | 'BatchError'
  | 'ChallengeError'
  | 'ConfigurationError'
  | 'CredentialError'
  | 'DocumentError'
  | 'HttpError'
  | 'IntegrityError'
  | 'JobFailedError'
  | 'NetworkError'
  | 'ProtocolError'
  | 'RetryBudgetError'
  | 'SelectionError'
  | 'TimeoutError'
  | 'TrustError'
  | 'UnsupportedError'
  | 'ValidationError'
  | 'VoiceError'
  | 'warning'

/** The properties shared by all errors with a code. */
export interface ErrorInfo {
  readonly families: readonly ErrorFamily[]
  /** Exit code of a command that fails with it; 0 for warnings. */
  readonly exit: number
  /** Whether the same call may succeed later; absent: no. `depends`: read `retryable` of the error. */
  readonly retryable?: true | 'depends'
  /** Advice for errors without a hint. */
  readonly advice: string
}

/** One line per code, grouped by exit code. */
export const ERROR_CODES = {
  // Configuration and usage: corrected by the caller.
  USAGE: { families: ['ConfigurationError'], exit: 2, advice: 'Read `--help` of the command and correct its arguments' },
  CONFIG_INVALID: {
    families: ['ConfigurationError', 'warning'],
    exit: 2,
    retryable: 'depends',
    advice: 'Correct the field that the pointer names',
  },
  CREDENTIAL_VALUE_INVALID: {
    families: ['CredentialError', 'ConfigurationError'],
    exit: 2,
    advice: 'Correct the field of the credential that the message names',
  },
  TARGET_NOT_FOUND: {
    families: ['SelectionError', 'ConfigurationError'],
    exit: 2,
    advice: 'Use the name of an asset or link that the document contains',
  },
  OUTPUT_UNSUPPORTED: { families: ['UnsupportedError'], exit: 2, advice: 'Use another output; the hint names one' },
  ORDER_REQUIRED: {
    families: ['ConfigurationError'],
    exit: 2,
    advice: 'Order the file: leave out `--no-order`, or agree to costs with `--yes`',
  },
  REQUEST_INVALID: { families: ['ValidationError', 'ConfigurationError'], exit: 2, advice: 'Correct the argument that the message names' },
  REQUEST_TOO_LARGE: { families: ['ValidationError'], exit: 2, advice: 'Send less in one call; the message states the limit' },
  VERB_NOT_ALLOWED: { families: ['ValidationError'], exit: 2, advice: 'Use a method that the resource supports' },
  FORM_EMPTY_VALUE: { families: ['ValidationError'], exit: 2, advice: 'Omit the field, or give it a value' },
  // Credentials and logins.
  NO_CREDENTIAL: { families: ['SelectionError', 'CredentialError'], exit: 3, advice: 'Add a credential; the hint contains an example' },
  LOGIN_REQUIRED: { families: ['CredentialError'], exit: 3, advice: 'Run `stac-auth login`, or call `auth.login()`' },
  LOGIN_DENIED: { families: ['CredentialError'], exit: 3, advice: 'Log in again and approve the request, or ask the provider for access' },
  LOGIN_PAGE: { families: ['CredentialError'], exit: 3, advice: 'Log in again; the server returned a login page instead of the file' },
  LOGIN_TIMEOUT: { families: ['CredentialError'], exit: 3, advice: 'Start the login again and complete it within the time allowed' },
  POPUP_BLOCKED: {
    families: ['CredentialError'],
    exit: 3,
    advice: 'Call `popup` directly in a click handler, or allow popups for the page',
  },
  CREDENTIAL_SOURCE: {
    families: ['CredentialError', 'warning'],
    exit: 3,
    retryable: 'depends',
    advice: 'Provide the environment variable, file, program or service that supplies the secret',
  },
  AUTH_REJECTED: {
    families: ['CredentialError'],
    exit: 3,
    retryable: 'depends',
    advice: 'Check the value of the credential and whether it has expired',
  },
  AUTH_CHALLENGE_UNSUPPORTED: { families: ['ChallengeError'], exit: 3, advice: 'Use a credential for a scheme that the server offers' },
  OAUTH_ERROR: {
    families: ['CredentialError'],
    exit: 3,
    retryable: 'depends',
    advice: 'Correct the setting that the authorization server reports, then log in again',
  },
  HTTP_401: {
    families: ['HttpError', 'NetworkError', 'ProtocolError'],
    exit: 3,
    advice: 'Check the credential; if it uses a login, log in again',
  },
  HTTP_403: {
    families: ['HttpError', 'NetworkError', 'ProtocolError'],
    exit: 3,
    advice: 'Request access from the provider; the credential is valid but lacks permission',
  },
  // Refused by the trust rules; no secret was sent.
  CREDENTIAL_TARGET_UNTRUSTED: { families: ['SelectionError', 'TrustError'], exit: 4, advice: 'If you trust the host, add it to `sendTo`' },
  CREDENTIAL_ENDPOINT_UNTRUSTED: {
    families: ['SelectionError', 'TrustError'],
    exit: 4,
    advice: 'If you trust the endpoint, add it to the credential',
  },
  SCHEME_MISMATCH: { families: ['SelectionError'], exit: 4, advice: 'Use a credential for the scheme that the document describes' },
  SCHEME_CHANGED: {
    families: ['SelectionError'],
    exit: 4,
    advice: 'Review the changed scheme; if it is correct, confirm it with `credentials trust`',
  },
  SCHEME_NOT_FOUND: { families: ['SelectionError'], exit: 4, advice: 'Define the name in `auth:schemes`, or pass the parent documents' },
  SCHEME_INVALID: {
    families: ['SelectionError'],
    exit: 4,
    advice: 'Correct the scheme in the document; `stac-auth lint` reports the position',
  },
  SCHEMES_INVALID: { families: ['SelectionError'], exit: 4, advice: 'Make `auth:schemes` an object that maps names to schemes' },
  SCHEME_CYCLE: { families: ['SelectionError'], exit: 4, advice: 'Remove the cyclic `auth:refs` between the schemes' },
  SCHEME_UNSUPPORTED: {
    families: ['UnsupportedError', 'SelectionError'],
    exit: 4,
    advice: 'Use another scheme, register a strategy, or install the package that the message names',
  },
  FLOW_INVALID: { families: ['SelectionError'], exit: 4, advice: 'Correct `flows` of the scheme in the document' },
  URL_INVALID: { families: ['SelectionError', 'UnsupportedError', 'TrustError'], exit: 4, advice: 'Correct the URL' },
  URL_SCHEME_FORBIDDEN: { families: ['SelectionError', 'TrustError'], exit: 4, advice: 'Use an https, s3 or gs URL' },
  URL_HAS_USERINFO: { families: ['SelectionError', 'TrustError'], exit: 4, advice: 'Remove the user name and password from the URL' },
  URL_INSECURE: { families: ['SelectionError', 'TrustError', 'ConfigurationError'], exit: 4, advice: 'Use https' },
  URL_ADDRESS_FORBIDDEN: {
    families: ['SelectionError', 'TrustError'],
    exit: 4,
    advice: 'If you trust this loopback or private address, name it in `typed` or in `sendTo`',
  },
  HEADER_NAME_FORBIDDEN: { families: ['SelectionError'], exit: 4, advice: 'Use a header name that is allowed to carry a key' },
  COOKIE_NAME_INVALID: { families: ['SelectionError'], exit: 4, advice: 'Correct the name of the cookie in the scheme' },
  QUERY_NAME_CONFLICT: {
    families: ['SelectionError'],
    exit: 4,
    advice: 'Remove the query parameter from the URL, or send the key in a header',
  },
  LINK_REQUEST_FORBIDDEN: { families: ['SelectionError'], exit: 4, advice: 'Remove `method`, `headers` and `body` from the link' },
  PARAM_FORBIDDEN: { families: ['SelectionError'], exit: 4, advice: 'Remove the parameter from the flow of the scheme' },
  PARAM_UNBOUND: { families: ['SelectionError'], exit: 4, advice: 'Set the value in `parameters` of the credential' },
  PARAM_SCHEMA_REF: { families: ['SelectionError'], exit: 4, advice: 'Remove `$ref` from the schema of the parameter' },
  PARAM_SCHEMA_KEYWORD: { families: ['SelectionError'], exit: 4, advice: 'Remove the keyword from the schema of the parameter' },
  PARAM_SCHEMA_VALUE: { families: ['SelectionError'], exit: 4, advice: 'Use a value that the schema of the parameter allows' },
  SIGNED_URL_FORBIDDEN: { families: ['SelectionError'], exit: 4, advice: 'If you trust the host, add it to `signedUrlHosts`' },
  RESPONSE_FIELD_MISSING: { families: ['SelectionError'], exit: 4, advice: 'Set `responseField`, or check the URL of the service' },
  REDIRECT_CROSS_ORIGIN: { families: ['TrustError'], exit: 4, advice: 'If you trust the target of the redirect, request it directly' },
  REDIRECT_DOWNGRADE: { families: ['TrustError'], exit: 4, advice: 'Ask the server to redirect to https' },
  REDIRECT_INVALID: { families: ['TrustError'], exit: 4, advice: 'Report the redirect to the operator of the server' },
  REDIRECT_LOOP: { families: ['TrustError'], exit: 4, advice: 'Report the redirect to the operator of the server' },
  REDIRECT_TOO_MANY: { families: ['TrustError'], exit: 4, advice: 'Request the final URL directly' },
  OAUTH_REDIRECT: { families: ['TrustError'], exit: 4, advice: 'Configure the final URL of the endpoint, which does not redirect' },
  SIGN_REDIRECT: { families: ['TrustError'], exit: 4, advice: 'Configure the final URL of the signing API, which does not redirect' },
  OAUTH_ISSUER_MISMATCH: { families: ['TrustError'], exit: 4, advice: 'Correct `issuer` in the credential' },
  OIDC_ID_TOKEN: { families: ['ProtocolError'], exit: 4, advice: 'Log in again; if it persists, check `issuer` and `clientId`' },
  AUTH_SERVER_UNPROVEN: {
    families: ['ProtocolError'],
    exit: 4,
    advice: 'Do not trust the response; the server did not prove that it knows the secret',
  },
  TLS_DISABLED: { families: ['TrustError'], exit: 4, advice: 'Unset NODE_TLS_REJECT_UNAUTHORIZED; use SSL_CERT_FILE' },
  REQUEST_REFUSED: {
    families: ['TrustError'],
    exit: 4,
    advice: 'Request the URL as the gateway printed it, from a program on this machine',
  },
  UNSUPPORTED_IN_BROWSER: { families: ['UnsupportedError'], exit: 4, advice: 'Use Node or the command line for this scheme' },
  DOC_TOO_DEEP: { families: ['IntegrityError'], exit: 4, advice: 'Split the document; the message states the limit' },
  DOC_TOO_LARGE: { families: ['IntegrityError'], exit: 4, advice: 'Split the document; the message states the limit' },
  DOC_TOO_MANY: { families: ['IntegrityError'], exit: 4, advice: 'Read fewer documents at once' },
  // Network and services.
  NETWORK_DNS: { families: ['NetworkError'], exit: 5, retryable: 'depends', advice: 'Check the host name and the DNS settings' },
  NETWORK_FAILED: { families: ['NetworkError'], exit: 5, retryable: 'depends', advice: 'Check the connection and try again' },
  NETWORK_HTTP2: { families: ['NetworkError'], exit: 5, advice: 'Ask the operator to allow HTTP/1.1, or send through a gateway to HTTP/2' },
  NETWORK_LISTEN: { families: ['NetworkError'], exit: 5, advice: 'Choose another port' },
  NETWORK_REFUSED: { families: ['NetworkError'], exit: 5, retryable: true, advice: 'Check that the server is running, then try again' },
  NETWORK_RESET: { families: ['NetworkError'], exit: 5, retryable: true, advice: 'Try again' },
  NETWORK_UNREACHABLE: { families: ['NetworkError'], exit: 5, retryable: true, advice: 'Check the connection and try again' },
  TLS_EXPIRED: { families: ['NetworkError'], exit: 5, advice: 'Check the clock, or report the certificate to the operator' },
  TLS_HANDSHAKE: { families: ['NetworkError'], exit: 5, advice: 'Check that the server supports TLS 1.2 or later on this port' },
  TLS_HOSTNAME: { families: ['NetworkError'], exit: 5, advice: 'Use a host name that the certificate contains' },
  TLS_UNTRUSTED: { families: ['NetworkError'], exit: 5, advice: 'Set SSL_CERT_FILE to the file of your certificate authority' },
  TIMEOUT_ATTEMPT: { families: ['TimeoutError'], exit: 5, retryable: true, advice: 'Try again, or allow more time per attempt' },
  TIMEOUT_BODY: { families: ['TimeoutError'], exit: 5, retryable: true, advice: 'Try again; the response stalled' },
  TIMEOUT_CONNECT: { families: ['TimeoutError'], exit: 5, retryable: 'depends', advice: 'Check the connection and try again' },
  TIMEOUT_HEADERS: { families: ['TimeoutError'], exit: 5, retryable: true, advice: 'Try again; the server did not respond in time' },
  TIMEOUT_QUEUE: { families: ['TimeoutError'], exit: 5, advice: 'Start a worker: `stac-auth queue work`' },
  TIMEOUT_TOTAL: { families: ['TimeoutError'], exit: 5, retryable: true, advice: 'Try again, or allow more time' },
  PROXY_AUTH_REQUIRED: {
    families: ['NetworkError'],
    exit: 5,
    advice: 'Add the user name and password to the proxy URL in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY',
  },
  PROXY_INVALID: { families: ['NetworkError'], exit: 5, advice: 'Correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY' },
  PROXY_REFUSED: { families: ['NetworkError'], exit: 5, retryable: 'depends', advice: 'Check whether the proxy allows the host' },
  PROXY_UNREACHABLE: { families: ['NetworkError'], exit: 5, retryable: true, advice: 'Check that the proxy is running' },
  CORS_OR_NETWORK: {
    families: ['NetworkError'],
    exit: 5,
    retryable: true,
    advice: 'Check the connection, CORS headers of the server and `connect-src` of the page',
  },
  RATE_LIMITED: {
    families: ['NetworkError'],
    exit: 5,
    retryable: 'depends',
    advice: 'Wait for the time that the server states, then try again',
  },
  RESPONSE_TOO_LARGE: { families: ['NetworkError'], exit: 5, advice: 'Raise the limit if you trust the server' },
  RESPONSE_INVALID: {
    families: ['ProtocolError', 'NetworkError'],
    exit: 5,
    retryable: 'depends',
    advice: 'Report the response to the operator of the server',
  },
  RESPONSE_TRUNCATED: { families: ['ProtocolError', 'NetworkError'], exit: 5, retryable: true, advice: 'Try again' },
  MEDIA_TYPE_UNSUPPORTED: {
    families: ['ProtocolError'],
    exit: 5,
    advice: 'Check the URL of the service; the response has an unexpected media type',
  },
  RANGE_INVALID: {
    families: ['ProtocolError', 'NetworkError'],
    exit: 5,
    advice: 'Download the whole file; the server does not support range requests correctly',
  },
  OAUTH_RESPONSE_INVALID: { families: ['ProtocolError'], exit: 5, advice: 'Check the URL of the endpoint' },
  OAUTH_TOKEN_TYPE: { families: ['ProtocolError'], exit: 5, advice: 'Ask the provider for a token of type Bearer or DPoP' },
  CLOCK_SKEW: { families: ['ProtocolError', 'CredentialError'], exit: 5, advice: 'Correct the clock of this machine' },
  FILE_INCOMPLETE: {
    families: ['IntegrityError', 'NetworkError', 'warning'],
    exit: 5,
    retryable: 'depends',
    advice: 'Try again; the download resumes',
  },
  CRAWL_LIMIT: { families: ['AuthError', 'warning'], exit: 5, advice: 'Raise the limit of the crawl that the message names' },
  CRAWL_OTHER_ORIGIN: {
    families: ['AuthError'],
    exit: 5,
    advice: 'Use `--cross-origin` to follow these links, or `--same-origin` to skip them',
  },
  PAGE_LOOP: { families: ['ProtocolError', 'AuthError'], exit: 5, advice: 'Report the pagination error to the operator of the API' },
  DOCUMENT_FAILED: { families: ['DocumentError'], exit: 5, advice: 'Read the message of the service, and upload the document again' },
  DOCUMENT_NOT_READY: { families: ['DocumentError'], exit: 5, retryable: true, advice: 'Wait until the document is translated' },
  DOCUMENT_GONE: { families: ['DocumentError'], exit: 5, advice: 'Upload the document again; a translation can be downloaded only once' },
  JOB_FAILED: {
    families: ['JobFailedError', 'ProtocolError', 'warning'],
    exit: 5,
    advice: 'Read the message of the service, and start the job again',
  },
  ORDER_FAILED: { families: ['ProtocolError'], exit: 5, advice: 'Read the reason of the provider, and order the file again' },
  RETRY_BUDGET: {
    families: ['RetryBudgetError', 'NetworkError'],
    exit: 5,
    retryable: true,
    advice: 'Wait until the service recovers, then try again',
  },
  BATCH_INCOMPLETE: {
    families: ['BatchError', 'AuthError'],
    exit: 5,
    advice: 'Send the failed texts again; the error contains the results of the others',
  },
  VOICE_FAILED: { families: ['VoiceError'], exit: 5, advice: 'Start a new voice session' },
  // Files and stored data.
  PATH_EXISTS: { families: ['IntegrityError'], exit: 6, advice: 'Choose another name, or allow replacing the file' },
  PATH_UNSAFE: { families: ['IntegrityError'], exit: 6, advice: 'Use a path without symbolic links inside your own folder' },
  PATH_BUSY: { families: ['IntegrityError', 'warning'], exit: 6, advice: 'Wait for the other process, or stop it' },
  PATH_COLLISION: { families: ['IntegrityError'], exit: 6, advice: 'Give the assets different file names' },
  DISK_FULL: { families: ['IntegrityError'], exit: 6, advice: 'Free space on the disk and run the command again' },
  FILE_ACCESS: {
    families: ['IntegrityError', 'UnsupportedError'],
    exit: 6,
    retryable: 'depends',
    advice: 'Check that the file exists and that you may read or write it',
  },
  FILE_CHANGED: {
    families: ['IntegrityError'],
    exit: 6,
    retryable: 'depends',
    advice: 'Run the command again; the file changed while it was read',
  },
  FILE_INTEGRITY: {
    families: ['IntegrityError', 'warning'],
    exit: 6,
    advice: 'Download it again; if it differs again, tell the provider, or use --trust-server',
  },
  CACHE_UNSAFE: { families: ['IntegrityError'], exit: 6, advice: 'Make the file or folder accessible to your user only, or remove it' },
  CACHE_LOCK_TIMEOUT: { families: ['IntegrityError'], exit: 6, retryable: true, advice: 'Wait for the other process, or stop it' },
  CACHE_NOT_WRITABLE: { families: ['IntegrityError'], exit: 6, advice: 'Make the folder of the token store writable' },
  DOC_NOT_JSON: { families: ['IntegrityError'], exit: 6, advice: 'Correct the JSON at the position in the message' },
  DOC_NOT_UTF8: { families: ['IntegrityError'], exit: 6, advice: 'Save the document as UTF-8' },
  // Interrupted calls and internal errors.
  ABORTED: { families: ['AbortedError', 'AuthError'], exit: 130, advice: 'None; the caller aborted the call' },
  INTERNAL: { families: ['AuthError'], exit: 70, advice: 'Run again with STAC_AUTH_DEBUG=1 and report the stack trace' },
  // Warnings: the command continues.
  SCOPE_NOT_GRANTED: { families: ['warning'], exit: 0, advice: 'Add the scope to `scopes` of the credential if you need it' },
  SCOPE_REDUCED: { families: ['warning'], exit: 0, advice: 'Ask the provider for the scope if you need it' },
  ID_TOKEN_UNUSED: { families: ['warning'], exit: 0, advice: 'Add `issuer` to the credential' },
  TOKEN_NOT_REVOKED: {
    families: ['warning'],
    exit: 0,
    advice: 'Allow the host that the message names in `endpointHosts` before the next logout',
  },
  PARAM_KEYWORD_IGNORED: { families: ['warning'], exit: 0, advice: 'Remove the keyword from the schema of the parameter' },
  PARAM_PATTERN_UNSUPPORTED: { families: ['warning'], exit: 0, advice: 'Write a simpler pattern' },
  CONTENT_TYPE_UNEXPECTED: { families: ['IntegrityError', 'warning'], exit: 0, advice: 'Inspect the file; it may be a login page' },
  CONTENT_CODING_UNKNOWN: { families: ['IntegrityError', 'warning'], exit: 0, advice: 'Inspect the file; it may be compressed' },
  CHECKSUM_UNSUPPORTED: {
    families: ['warning'],
    exit: 0,
    advice: 'Verify the file with another tool; the checksum algorithm is not supported',
  },
  CACHE_MEMORY_ONLY: { families: ['warning'], exit: 0, advice: 'Make the token store writable to keep logins' },
  FINDINGS_UNLISTED: { families: ['warning'], exit: 0, advice: 'Use `--format ndjson`, or allow more memory' },
  DOCUMENT_STATUS_UNKNOWN: { families: ['warning'], exit: 0, advice: 'None; the status of the service is returned unchanged' },
  HANDLE_ELSEWHERE: { families: ['warning'], exit: 0, advice: 'Keep the file that the message names until the translation is complete' },
  HANDLE_LOST: { families: ['warning'], exit: 0, advice: 'Do not interrupt the command; the document cannot be downloaded afterwards' },
  MARKUP_LOST: { families: ['warning'], exit: 0, advice: 'Translate the text by hand' },
  PAGE_UNREAD: { families: ['warning'], exit: 0, advice: 'Check whether the list is complete' },
  PLAN_HOST_MISMATCH: { families: ['warning'], exit: 0, advice: 'Use the base URL that belongs to the plan of your key' },
} as const satisfies { readonly [code: string]: ErrorInfo }

/** All other HTTP statuses, such as `HTTP_404`. */
export const HTTP_STATUS: ErrorInfo = {
  families: ['HttpError', 'NetworkError', 'ProtocolError'],
  exit: 5,
  retryable: 'depends',
  advice: 'For 404 and 410 check the URL, for other 4xx what was sent; for 429 and 5xx try again later',
}

/** The code of an error or a warning. Codes are stable. */
export type ErrorCode = keyof typeof ERROR_CODES | `HTTP_${number}`
