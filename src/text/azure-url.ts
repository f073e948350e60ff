/** The https form of URLs of Azure Storage. */

/**
 * A container, and its storage account where it is in the URL (Azure Storage, "Use the Azure Data Lake Storage URI", "Naming and
 * referencing containers"); `az:` is what some programs write for the same.
 */
const AZURE =
  /^(?:abfss?|az):\/\/(?=[^@/]{3,63}(?:[@/]|$))([a-z0-9]+(?:-[a-z0-9]+)*)(?:@([a-z0-9]{3,24})\.(?:dfs|blob)\.(core\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn)))?(\/[^?#]*)?$/i

/** Dot segments, which could lead to another bucket or container. */
const DOTS = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/** True for a path with a segment that is `.` or `..`, also percent-encoded. */
export function hasDotSegment(path: string): boolean {
  return DOTS.test(path)
}

/**
 * Returns the https URL of an `abfs:`, `abfss:` or `az:` URL: `abfss://container@account.dfs.core.windows.net/key` is that of
 * `https://account.blob.core.windows.net/container/key`. Any other text is returned unchanged, also one without an account.
 *
 * @param account name of the account for a URL that has none
 */
export function azureUrl(href: string, account?: unknown): string {
  const [, container = '', stated, cloud = 'core.windows.net', path = '/'] = AZURE.exec(href) ?? []
  const owner = stated ?? account
  if (container === '' || typeof owner !== 'string' || !/^[a-z0-9]{3,24}$/.test(owner) || hasDotSegment(path)) return href
  return /[A-Z]/.test(container + cloud) ? href : `https://${owner}.blob.${cloud}/${container}${path}`
}
