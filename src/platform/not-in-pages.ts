/** Errors of operations that are supported on Node only; loaded on first use. */
import { UnsupportedError } from '../errors.ts'

const MISSING = {
  secretSource: ['a secret that is not given itself can only be read on Node', 'pass the secret itself or a function that returns it'],
  s3Keys: [
    'an s3 credential without keys reads them from a profile or the environment, which is supported on Node only',
    'set accessKeyId and secretAccessKey, or credentialsUrl',
  ],
  securityContext: [
    'web pages cannot use Kerberos tickets',
    "let the browser log in: fetch(url, { credentials: 'include' }), on a host that it trusts for integrated login",
  ],
  socket: ['this runtime has no WebSocket', 'pass a WebSocket class in the option WebSocket'],
  subtle: [
    'this page was loaded over plain http, and browsers provide Web Crypto in secure contexts only',
    'serve the page over https; during development, open it as http://localhost',
  ],
  files: ['files can be named by their paths on Node only', 'use a Blob, bytes or a stream'],
} as const

/** Throws `UNSUPPORTED_IN_BROWSER`; `detail` selects the message. */
export function notInPages(what: keyof typeof MISSING, detail = ''): never {
  const [message, hint] = MISSING[what]
  throw new UnsupportedError('UNSUPPORTED_IN_BROWSER', `${message}${detail}`, { hint })
}
