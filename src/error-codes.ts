/**
 * Every error code and warning code: which classes carry it, the exit code of a command that it ends, and what to do about it.
 *
 * Programs that run in a page load the types of this file alone: the texts are for the documentation and the command line.
 */

/** A class of errors, or `warning` for what is only told. */
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

/** What is the same for all errors of a code. */
export interface ErrorInfo {
  readonly families: readonly ErrorFamily[]
  /** Exit code of a command that ends in it; 0 for what is only told. */
  readonly exit: number
  /** Whether the same call may succeed later; absent: no. `depends`: the error says so itself. */
  readonly retryable?: true | 'depends'
  /** What to do next, where the error has no hint of its own. */
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
    advice: 'Correct the value of the credential: the message names the field',
  },
  TARGET_NOT_FOUND: { families: ['SelectionError', 'ConfigurationError'], exit: 2, advice: 'Name an asset or link that the document has' },
  OUTPUT_UNSUPPORTED: { families: ['UnsupportedError'], exit: 2, advice: 'Use another output: the hint names one' },
  REQUEST_INVALID: { families: ['ValidationError', 'ConfigurationError'], exit: 2, advice: 'Correct the argument that the message names' },
  REQUEST_TOO_LARGE: { families: ['ValidationError'], exit: 2, advice: 'Send less in one call: the message names the limit' },
  VERB_NOT_ALLOWED: { families: ['ValidationError'], exit: 2, advice: 'Use a method that the resource supports' },
  FORM_EMPTY_VALUE: { families: ['ValidationError'], exit: 2, advice: 'Leave the field out, or give it a value' },
  // Credentials and logins.
  NO_CREDENTIAL: { families: ['SelectionError', 'CredentialError'], exit: 3, advice: 'Add a credential: the hint shows one' },
  LOGIN_REQUIRED: { families: ['CredentialError'], exit: 3, advice: 'Run `stac-auth login`, or call `auth.login()`' },
  LOGIN_DENIED: { families: ['CredentialError'], exit: 3, advice: 'Log in again and agree, or ask the provider for access' },
  LOGIN_PAGE: { families: ['CredentialError'], exit: 3, advice: 'Log in again: the server answered with a login page' },
  LOGIN_TIMEOUT: { families: ['CredentialError'], exit: 3, advice: 'Start the login again and complete it within the time allowed' },
  POPUP_BLOCKED: { families: ['CredentialError'], exit: 3, advice: 'Call `login` in the handler of a click, or allow popups for the page' },
  CREDENTIAL_SOURCE: {
    families: ['CredentialError', 'warning'],
    exit: 3,
    retryable: 'depends',
    advice: 'Make the variable, file, program or service of the secret available',
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
    advice: 'Correct what the authorization server names, then log in again',
  },
  HTTP_401: {
    families: ['HttpError', 'NetworkError', 'ProtocolError'],
    exit: 3,
    advice: 'Check the credential, and log in again where it has a login',
  },
  HTTP_403: {
    families: ['HttpError', 'NetworkError', 'ProtocolError'],
    exit: 3,
    advice: 'Ask for access: the credential is known, but not allowed to do this',
  },
  // Trust: refused, and nothing was sent.
  CREDENTIAL_TARGET_UNTRUSTED: { families: ['SelectionError', 'TrustError'], exit: 4, advice: 'If you trust the host, add it to `sendTo`' },
  CREDENTIAL_ENDPOINT_UNTRUSTED: {
    families: ['SelectionError', 'TrustError'],
    exit: 4,
    advice: 'If you trust the endpoint, name it in the credential',
  },
  SCHEME_MISMATCH: { families: ['SelectionError'], exit: 4, advice: 'Use a credential for the scheme that the document describes' },
  SCHEME_CHANGED: { families: ['SelectionError'], exit: 4, advice: 'Look at the scheme again, and agree to it anew if it is right' },
  SCHEME_NOT_FOUND: { families: ['SelectionError'], exit: 4, advice: 'Define the name in `auth:schemes`, or pass the parent documents' },
  SCHEME_INVALID: { families: ['SelectionError'], exit: 4, advice: 'Correct the scheme in the document: `stac-auth lint` says where' },
  SCHEMES_INVALID: { families: ['SelectionError'], exit: 4, advice: 'Make `auth:schemes` an object of names and schemes' },
  SCHEME_CYCLE: { families: ['SelectionError'], exit: 4, advice: 'Remove the cycle of `auth:refs` between the schemes' },
  SCHEME_UNSUPPORTED: {
    families: ['UnsupportedError', 'SelectionError'],
    exit: 4,
    advice: 'Use another scheme, add a strategy, or install the package named',
  },
  FLOW_INVALID: { families: ['SelectionError'], exit: 4, advice: 'Correct `flows` of the scheme in the document' },
  URL_INVALID: { families: ['SelectionError', 'UnsupportedError', 'TrustError'], exit: 4, advice: 'Correct the URL' },
  URL_SCHEME_FORBIDDEN: { families: ['SelectionError', 'TrustError'], exit: 4, advice: 'Use an https, s3 or gs URL' },
  URL_HAS_USERINFO: { families: ['SelectionError', 'TrustError'], exit: 4, advice: 'Remove the user name and password from the URL' },
  URL_INSECURE: { families: ['SelectionError', 'TrustError', 'ConfigurationError'], exit: 4, advice: 'Use https' },
  URL_ADDRESS_FORBIDDEN: {
    families: ['SelectionError', 'TrustError'],
    exit: 4,
    advice: 'Name a loopback or private address yourself if you mean it',
  },
  HEADER_NAME_FORBIDDEN: { families: ['SelectionError'], exit: 4, advice: 'Use a header that may carry a key' },
  COOKIE_NAME_INVALID: { families: ['SelectionError'], exit: 4, advice: 'Correct the name of the cookie in the scheme' },
  QUERY_NAME_CONFLICT: {
    families: ['SelectionError'],
    exit: 4,
    advice: 'Remove the query parameter from the URL, or send the key in another place',
  },
  LINK_REQUEST_FORBIDDEN: { families: ['SelectionError'], exit: 4, advice: 'Remove `method`, `headers` and `body` from the link' },
  PARAM_FORBIDDEN: { families: ['SelectionError'], exit: 4, advice: 'Remove the parameter from the flow of the scheme' },
  PARAM_UNBOUND: { families: ['SelectionError'], exit: 4, advice: 'Give the value in `parameters` of the credential' },
  PARAM_SCHEMA_REF: { families: ['SelectionError'], exit: 4, advice: 'Write the schema of the parameter without `$ref`' },
  PARAM_SCHEMA_KEYWORD: { families: ['SelectionError'], exit: 4, advice: 'Write the schema of the parameter without the keyword' },
  PARAM_SCHEMA_VALUE: { families: ['SelectionError'], exit: 4, advice: 'Give a value that the schema of the parameter allows' },
  SIGNED_URL_FORBIDDEN: { families: ['SelectionError'], exit: 4, advice: 'If you trust the host, add it to `signedUrlHosts`' },
  RESPONSE_FIELD_MISSING: { families: ['SelectionError'], exit: 4, advice: 'Set `responseField`, or check the URL of the service' },
  REDIRECT_CROSS_ORIGIN: { families: ['TrustError'], exit: 4, advice: 'Request the target of the redirect directly if you trust it' },
  REDIRECT_DOWNGRADE: { families: ['TrustError'], exit: 4, advice: 'Ask the server to redirect to https' },
  REDIRECT_INVALID: { families: ['TrustError'], exit: 4, advice: 'Report the redirect to the operator of the server' },
  REDIRECT_LOOP: { families: ['TrustError'], exit: 4, advice: 'Report the redirect to the operator of the server' },
  REDIRECT_TOO_MANY: { families: ['TrustError'], exit: 4, advice: 'Request the final URL directly' },
  OAUTH_REDIRECT: { families: ['TrustError'], exit: 4, advice: 'Configure the endpoint that answers without a redirect' },
  SIGN_REDIRECT: { families: ['TrustError'], exit: 4, advice: 'Configure the URL at which the signing API answers without a redirect' },
  OAUTH_ISSUER_MISMATCH: { families: ['TrustError'], exit: 4, advice: 'Correct `issuer` in the credential' },
  OIDC_ID_TOKEN: { families: ['ProtocolError'], exit: 4, advice: 'Log in again; if it persists, check `issuer` and `clientId`' },
  AUTH_SERVER_UNPROVEN: {
    families: ['ProtocolError'],
    exit: 4,
    advice: 'Do not trust the response: the server did not prove that it knows the secret',
  },
  TLS_DISABLED: { families: ['TrustError'], exit: 4, advice: 'Unset NODE_TLS_REJECT_UNAUTHORIZED; use NODE_EXTRA_CA_CERTS' },
  UNSUPPORTED_IN_BROWSER: { families: ['UnsupportedError'], exit: 4, advice: 'Use Node or the command line for this scheme' },
  DOC_TOO_DEEP: { families: ['IntegrityError'], exit: 4, advice: 'Split the document: the message names the limit' },
  DOC_TOO_LARGE: { families: ['IntegrityError'], exit: 4, advice: 'Split the document: the message names the limit' },
  DOC_TOO_MANY: { families: ['IntegrityError'], exit: 4, advice: 'Read fewer documents at once' },
  // Network and services.
  NETWORK_DNS: { families: ['NetworkError'], exit: 5, retryable: 'depends', advice: 'Check the host name and the name server' },
  NETWORK_FAILED: { families: ['NetworkError'], exit: 5, retryable: 'depends', advice: 'Check the connection and try again' },
  NETWORK_LISTEN: { families: ['NetworkError'], exit: 5, advice: 'Choose another port' },
  NETWORK_REFUSED: { families: ['NetworkError'], exit: 5, retryable: true, advice: 'Check that the server runs, then try again' },
  NETWORK_RESET: { families: ['NetworkError'], exit: 5, retryable: true, advice: 'Try again' },
  NETWORK_UNREACHABLE: { families: ['NetworkError'], exit: 5, retryable: true, advice: 'Check the connection and try again' },
  TLS_EXPIRED: { families: ['NetworkError'], exit: 5, advice: 'Check the clock, or report the certificate to the operator' },
  TLS_HANDSHAKE: { families: ['NetworkError'], exit: 5, advice: 'Check that the server speaks TLS 1.2 or later on this port' },
  TLS_HOSTNAME: { families: ['NetworkError'], exit: 5, advice: 'Use the host name of the certificate' },
  TLS_UNTRUSTED: { families: ['NetworkError'], exit: 5, advice: 'Set NODE_EXTRA_CA_CERTS to the file of your own authority' },
  TIMEOUT_ATTEMPT: { families: ['TimeoutError'], exit: 5, retryable: true, advice: 'Try again, or allow more time per attempt' },
  TIMEOUT_BODY: { families: ['TimeoutError'], exit: 5, retryable: true, advice: 'Try again: the response stalled' },
  TIMEOUT_CONNECT: { families: ['TimeoutError'], exit: 5, retryable: 'depends', advice: 'Check the connection and try again' },
  TIMEOUT_HEADERS: { families: ['TimeoutError'], exit: 5, retryable: true, advice: 'Try again: the server did not respond in time' },
  TIMEOUT_QUEUE: { families: ['TimeoutError'], exit: 5, advice: 'Start a worker: `stac-auth worker`' },
  TIMEOUT_TOTAL: { families: ['TimeoutError'], exit: 5, retryable: true, advice: 'Try again, or allow more time' },
  PROXY_AUTH_REQUIRED: { families: ['NetworkError'], exit: 5, advice: 'Put the user name and password into the variable of the proxy' },
  PROXY_INVALID: { families: ['NetworkError'], exit: 5, advice: 'Correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY' },
  PROXY_REFUSED: { families: ['NetworkError'], exit: 5, retryable: 'depends', advice: 'Check whether the proxy allows the host' },
  PROXY_UNREACHABLE: { families: ['NetworkError'], exit: 5, retryable: true, advice: 'Check that the proxy runs' },
  CORS_OR_NETWORK: {
    families: ['NetworkError'],
    exit: 5,
    retryable: true,
    advice: 'Check the connection and the CORS headers of the server',
  },
  RATE_LIMITED: {
    families: ['NetworkError'],
    exit: 5,
    retryable: 'depends',
    advice: 'Wait as long as the server asks for, then try again',
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
    advice: 'Check the URL of the service: the response has another media type',
  },
  RANGE_INVALID: {
    families: ['ProtocolError', 'NetworkError'],
    exit: 5,
    advice: 'Download the whole file: the server does not serve ranges correctly',
  },
  OAUTH_RESPONSE_INVALID: { families: ['ProtocolError'], exit: 5, advice: 'Check the URL of the endpoint' },
  OAUTH_TOKEN_TYPE: { families: ['ProtocolError'], exit: 5, advice: 'Ask the provider for a token of type Bearer or DPoP' },
  CLOCK_SKEW: { families: ['ProtocolError', 'CredentialError'], exit: 5, advice: 'Set the clock of this machine' },
  FILE_INCOMPLETE: {
    families: ['IntegrityError', 'NetworkError', 'warning'],
    exit: 5,
    retryable: 'depends',
    advice: 'Try again: the download resumes',
  },
  CRAWL_LIMIT: { families: ['AuthError', 'warning'], exit: 5, advice: 'Raise the limit of the crawl: the message names it' },
  CRAWL_OTHER_ORIGIN: {
    families: ['AuthError'],
    exit: 5,
    advice: 'Use `--cross-origin` to follow such links, `--same-origin` to leave them out',
  },
  PAGE_LOOP: { families: ['ProtocolError', 'AuthError'], exit: 5, advice: 'Report the paging of the API to its operator' },
  DOCUMENT_FAILED: { families: ['DocumentError'], exit: 5, advice: 'Read the message of the service, and upload the document again' },
  DOCUMENT_NOT_READY: { families: ['DocumentError'], exit: 5, retryable: true, advice: 'Wait until the document is translated' },
  DOCUMENT_GONE: { families: ['DocumentError'], exit: 5, advice: 'Upload the document again: it can be downloaded once only' },
  JOB_FAILED: {
    families: ['JobFailedError', 'ProtocolError', 'warning'],
    exit: 5,
    advice: 'Read the message of the service, and start the job again',
  },
  RETRY_BUDGET: {
    families: ['RetryBudgetError', 'NetworkError'],
    exit: 5,
    retryable: true,
    advice: 'Wait until the service recovers, then try again',
  },
  BATCH_INCOMPLETE: { families: ['BatchError'], exit: 5, advice: 'Send the texts that failed again: the error holds the others' },
  VOICE_FAILED: { families: ['VoiceError'], exit: 5, advice: 'Start a new voice session' },
  // Files and stored data.
  PATH_EXISTS: { families: ['IntegrityError'], exit: 6, advice: 'Choose another name, or allow the file to be replaced' },
  PATH_UNSAFE: { families: ['IntegrityError'], exit: 6, advice: 'Use a path without links, inside your own folder' },
  PATH_BUSY: { families: ['IntegrityError', 'warning'], exit: 6, advice: 'Wait for the other process, or end it' },
  PATH_COLLISION: { families: ['IntegrityError'], exit: 6, advice: 'Give the assets different file names' },
  DISK_FULL: { families: ['IntegrityError'], exit: 6, advice: 'Free space on the disk and run the command again' },
  FILE_ACCESS: {
    families: ['IntegrityError', 'UnsupportedError'],
    exit: 6,
    retryable: 'depends',
    advice: 'Check that the file exists and that you may read or write it',
  },
  FILE_CHANGED: { families: ['IntegrityError'], exit: 6, retryable: 'depends', advice: 'Start again: the file changed in between' },
  FILE_INTEGRITY: { families: ['IntegrityError'], exit: 6, advice: 'Download the file again; report it if the checksum differs again' },
  CACHE_UNSAFE: { families: ['IntegrityError'], exit: 6, advice: 'Make the file or folder yours alone, or remove it' },
  CACHE_LOCK_TIMEOUT: { families: ['IntegrityError'], exit: 6, retryable: true, advice: 'Wait for the other process, or end it' },
  CACHE_NOT_WRITABLE: { families: ['IntegrityError'], exit: 6, advice: 'Make the folder of the tokens writable' },
  DOC_NOT_JSON: { families: ['IntegrityError'], exit: 6, advice: 'Correct the JSON at the place that the message names' },
  DOC_NOT_UTF8: { families: ['IntegrityError'], exit: 6, advice: 'Save the document as UTF-8' },
  // Ends of a program.
  ABORTED: { families: ['AbortedError', 'AuthError'], exit: 130, advice: 'Nothing: the caller stopped the call' },
  INTERNAL: { families: ['AuthError'], exit: 70, advice: 'Set STAC_AUTH_DEBUG=1 to see where, and report it' },
  // Warnings: they stop nothing.
  SCOPE_NOT_GRANTED: { families: ['warning'], exit: 0, advice: 'Add the scope to `scopes` of the credential if you need it' },
  SCOPE_REDUCED: { families: ['warning'], exit: 0, advice: 'Ask the provider for the scope if you need it' },
  ID_TOKEN_UNUSED: { families: ['warning'], exit: 0, advice: 'Add `issuer` to the credential' },
  PARAM_KEYWORD_IGNORED: { families: ['warning'], exit: 0, advice: 'Remove the keyword from the schema of the parameter' },
  PARAM_PATTERN_UNSUPPORTED: { families: ['warning'], exit: 0, advice: 'Write a simpler pattern' },
  CONTENT_TYPE_UNEXPECTED: { families: ['IntegrityError', 'warning'], exit: 0, advice: 'Look into the file: it may be a login page' },
  CONTENT_CODING_UNKNOWN: { families: ['IntegrityError', 'warning'], exit: 0, advice: 'Look into the file: it may be compressed' },
  CHECKSUM_UNSUPPORTED: {
    families: ['warning'],
    exit: 0,
    advice: 'Check the file yourself: the algorithm of the checksum is not supported',
  },
  CACHE_MEMORY_ONLY: { families: ['warning'], exit: 0, advice: 'Make the store of the tokens writable to keep logins' },
  FINDINGS_UNLISTED: { families: ['warning'], exit: 0, advice: 'Write `--format ndjson`, or allow more memory' },
  DOCUMENT_STATUS_UNKNOWN: { families: ['warning'], exit: 0, advice: 'Nothing: the state is passed on as the service gives it' },
  HANDLE_ELSEWHERE: { families: ['warning'], exit: 0, advice: 'Keep the file that the message names until the translation is complete' },
  HANDLE_LOST: { families: ['warning'], exit: 0, advice: 'Do not interrupt the command: the document cannot be downloaded afterwards' },
  MARKUP_LOST: { families: ['warning'], exit: 0, advice: 'Translate the text by hand' },
  PAGE_UNREAD: { families: ['warning'], exit: 0, advice: 'Check whether the list is complete' },
  PLAN_HOST_MISMATCH: { families: ['warning'], exit: 0, advice: 'Use the base URL of the plan of your key' },
} as const satisfies { readonly [code: string]: ErrorInfo }

/** Every other status that a server answers with, as `HTTP_404`. */
export const HTTP_STATUS: ErrorInfo = {
  families: ['HttpError', 'NetworkError', 'ProtocolError'],
  exit: 5,
  retryable: 'depends',
  advice: 'Check the URL; for 429 and 5xx try again later',
}

/** The code of an error or a warning: a promise to programs. */
export type ErrorCode = keyof typeof ERROR_CODES | `HTTP_${number}`
