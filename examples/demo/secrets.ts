/** The secrets of the demo's user; new ones in every run. */
import { randomBytes } from 'node:crypto'

const NAMES = [
  'password',
  'token',
  'portalText',
  'headerKey',
  'queryKey',
  'cookieKey',
  'clientSecret',
  'accessKeyId',
  'secretAccessKey',
] as const

export type SecretName = (typeof NAMES)[number]
export type Secrets = Readonly<Record<SecretName, string>>

/** A random value for each. */
export function randomSecrets(): Secrets {
  return Object.fromEntries(NAMES.map((name) => [name, randomBytes(24).toString('base64url')])) as Secrets
}

/** Other values for each; the access key id is a name, so the object store knows it and must look at the signature. */
export function wrongSecrets({ accessKeyId }: Secrets): Secrets {
  return { ...randomSecrets(), accessKeyId }
}
