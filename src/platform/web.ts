import { UnsupportedError } from '../errors.ts'
import type { Platform } from './platform.ts'
import { digest, hmacKey, sha256Hex } from './web-crypto.ts'

/** Browsers and other web runtimes: fetch and SubtleCrypto; secrets come from the page, there is nowhere to read them from. */
export const platform: Platform = {
  defaultTransport: async () => {
    const { fetchTransport } = await import('./fetch-transport.ts')
    return fetchTransport()
  },
  connect: undefined,
  hidesHeaders: true,
  sha256Hex,
  digest,
  hmacKey,
  secretSource: (source) => async () => {
    const kind = Object.keys(source)[0]
    const hint = 'give the secret itself or a function that returns it'
    throw new UnsupportedError('UNSUPPORTED_IN_BROWSER', `a secret of the kind { "${kind}": … } can only be read on Node`, { hint })
  },
  s3Keys: () => async () => {
    const hint = 'give accessKeyId and secretAccessKey, or credentialsUrl'
    throw new UnsupportedError(
      'UNSUPPORTED_IN_BROWSER',
      'an s3 entry without keys takes them from a profile or the environment, on Node only',
      { hint },
    )
  },
  channel: () => undefined,
  files: async () => {
    throw new UnsupportedError('UNSUPPORTED_IN_BROWSER', 'files can be named by their paths on Node only: give and take a Blob or a stream')
  },
  securityContext: async () => {
    const hint = "let the browser log in: fetch(url, { credentials: 'include' }), on a host that it trusts for integrated login"
    throw new UnsupportedError('UNSUPPORTED_IN_BROWSER', 'pages cannot use Kerberos tickets by themselves', { hint })
  },
}
