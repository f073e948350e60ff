/**
 * `gs://bucket/key`, as Google Cloud Storage writes its objects. Such a URL stands for an https URL and is used as that one, so patterns,
 * credentials and redirects know one form of it only.
 */

/** The service, with path-style URLs. */
const GOOGLE_STORAGE = 'https://storage.googleapis.com'

/** Bucket names are lower-case (Google Cloud Storage, "Bucket naming guidelines"). */
const GS = /^gs:\/\/([a-z0-9](?:[a-z0-9._-]{0,220}[a-z0-9])?)(\/[^?#]*)?$/i
/** They would lead to another bucket. */
const DOTS = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/** What is wrong with a `gs:` URL that has no https form. */
export const GS_PROBLEM = {
  code: 'URL_INVALID',
  message: 'is not gs://bucket/key with a bucket in lower case, "?" and "#" percent-encoded and no "." or ".." between slashes',
} as const

/** True for a URL that begins with `gs:`. */
export function isGs(href: string): boolean {
  return /^gs:/i.test(href)
}

/** The https URL for a `gs:` URL, undefined for one that has none; any other text as it is. */
export function httpsForm(href: string): string | undefined {
  if (!isGs(href)) return href
  const [, bucket = '', path = '/'] = GS.exec(href) ?? []
  if (bucket === '' || bucket !== bucket.toLowerCase() || bucket.includes('..') || DOTS.test(path)) return undefined
  return `${GOOGLE_STORAGE}/${bucket}${path}`
}
