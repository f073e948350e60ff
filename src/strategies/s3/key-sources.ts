import type { S3Credential } from './access.ts'

/** Where keys may come from, by the field that says so. */
const SOURCES = ['accessKeyId', 'credentialsUrl', 'profile', 'instanceMetadata'] as const

/** What is wrong with the fields of an entry that say where its keys come from, and the field where it shows. */
export function sourceProblem(entry: S3Credential): { readonly field: string; readonly message: string } | undefined {
  const { accessKeyId, secretAccessKey, sessionToken, credentialsUrl } = entry
  if (!accessKeyId !== !secretAccessKey || (sessionToken && !accessKeyId)) {
    return { field: 'secretAccessKey', message: 'accessKeyId and secretAccessKey belong together' }
  }
  if (entry.with !== undefined && !credentialsUrl) return { field: 'with', message: 'with needs credentialsUrl, the service to be asked' }
  const [one, ...others] = SOURCES.filter((field) => entry[field])
  const other = others.find((field) => !(one === 'profile' && field === 'instanceMetadata'))
  return other && { field: other, message: `keys come from one place: ${one} or ${other}, not both` }
}
