/** What only Node can do; loaded when somebody tries. */
import { UnsupportedError } from '../errors.ts'

const MISSING = {
  secretSource: ['a secret that is not given itself can only be read on Node', 'give the secret itself or a function that returns it'],
  s3Keys: [
    'an s3 credential without keys takes them from a profile or the environment, on Node only',
    'give accessKeyId and secretAccessKey, or credentialsUrl',
  ],
  securityContext: [
    'pages cannot use Kerberos tickets by themselves',
    "let the browser log in: fetch(url, { credentials: 'include' }), on a host that it trusts for integrated login",
  ],
  socket: ['this runtime has no WebSocket', 'give the option WebSocket a class that is one'],
  subtle: [
    'this page came by plain http, and browsers give the functions that signatures and sessions are made with to secure contexts only',
    'serve the page by https:, and open it as http://localhost while it is developed',
  ],
  files: ['files can be named by their paths on Node only', 'give and take a Blob, bytes or a stream'],
} as const

/** Always fails, with `UNSUPPORTED_IN_BROWSER`. `detail` says which of them. */
export function notInPages(what: keyof typeof MISSING, detail = ''): never {
  const [message, hint] = MISSING[what]
  throw new UnsupportedError('UNSUPPORTED_IN_BROWSER', `${message}${detail}`, { hint })
}
