/** The secrets of the demo's user; new ones in every run. */
import { randomBytes } from 'node:crypto'
import { testKey } from '../../test/harness/keys.ts'

const text = () => randomBytes(24).toString('base64url')

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
  hobaKey: () => testKey.rsa().pem,
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

/** A random value for each. */
export function randomSecrets(): Secrets {
  return Object.fromEntries(Object.entries(MAKERS).map(([name, make]) => [name, make()])) as Secrets
}

/**
 * Other values for each, but for what is worth nothing alone: the access key id is a name, and the bound token could have been
 * stolen. The servers know both and must look at the signature.
 */
export function wrongSecrets({ accessKeyId, boundToken }: Secrets): Secrets {
  return { ...randomSecrets(), accessKeyId, boundToken }
}
