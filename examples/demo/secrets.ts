/** The secrets of the demo's user; new ones in every process. */
import { randomBytes } from 'node:crypto'
import { testKey } from '../../test/harness/keys.ts'

const text = () => randomBytes(24).toString('base64url')

/** RSA keys take long to make: all users of a process share one, and all strangers another. */
const rsaKeys = new Map<'user' | 'stranger', string>()
function rsaKey(owner: 'user' | 'stranger'): string {
  const key = rsaKeys.get(owner) ?? testKey.rsa().pem
  rsaKeys.set(owner, key)
  return key
}

const MAKERS = {
  password: text,
  token: text,
  portalText: text,
  boundToken: text,
  consumerSecret: text,
  tokenSecret: text,
  concealedKey: () => testKey.ed25519().pem,
  dpopKey: () => testKey.p256().pem,
  gnapKey: () => testKey.ed25519().pem,
  hobaKey: () => rsaKey('user'),
  vapidKey: () => testKey.p256().pem,
  headerKey: text,
  queryKey: text,
  cookieKey: text,
  clientSecret: text,
  accessKeyId: text,
  secretAccessKey: text,
}

export type SecretName = keyof typeof MAKERS
export type Secrets = Readonly<Record<SecretName, string>>

/** A random value for each; the RSA key is the same in one process. */
export function randomSecrets(): Secrets {
  return Object.fromEntries(Object.entries(MAKERS).map(([name, make]) => [name, make()])) as Secrets
}

/**
 * Other values for each, but for what is worth nothing alone: the access key id is a name, and the bound token could have been
 * stolen. The servers know both and must look at the signature.
 */
export function wrongSecrets({ accessKeyId, boundToken }: Secrets): Secrets {
  return { ...randomSecrets(), hobaKey: rsaKey('stranger'), accessKeyId, boundToken }
}
