import type { S3Keys } from '../platform/platform.ts'

/** Prefixes of variables, the one that goes first first. */
export const FAMILIES = ['CLOUD', 'AWS'] as const

/** Key id and secret of the first family that has both, with its own session token; half a pair is told and passed over. */
export function pairIn(
  environment: NodeJS.ProcessEnv,
  warn: (message: string) => void,
  families: readonly (typeof FAMILIES)[number][] = FAMILIES,
): S3Keys | undefined {
  for (const family of families) {
    const [idName, secretName] = [`${family}_ACCESS_KEY_ID`, `${family}_SECRET_ACCESS_KEY`] as const
    const accessKeyId = environment[idName]
    const secretAccessKey = environment[secretName]
    const sessionToken = environment[`${family}_SESSION_TOKEN`]
    if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
    if (accessKeyId || secretAccessKey) {
      const [there, missing] = accessKeyId ? [idName, secretName] : [secretName, idName]
      warn(`${there} is set without ${missing} and is passed over`)
    }
  }
  return undefined
}
