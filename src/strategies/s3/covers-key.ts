import { coveredBy, type Grant } from '../../auth/grant.ts'
import { percentEncoded } from '../../http/message.ts'

/**
 * True when a pattern covers that address, both read as an object store reads them: `year=2026` and `year%3D2026` are one key,
 * and a signature is made for the second. Encoded slashes, backslashes and dots stay as they are and keep their meaning for grants.
 */
export function coversKey(sendTo: readonly Grant[], url: URL): boolean {
  if (coveredBy(sendTo, url)) return true
  const odd = sendTo.filter(({ path }) => ODD.test(path))
  if (odd.length === 0) return false
  const same = new URL(url)
  same.pathname = canonical(url.pathname)
  return coveredBy(
    odd.map((grant) => ({ ...grant, path: canonical(grant.path) })),
    same,
  )
}

const ODD = /[^\w\-.~/]/

function canonical(path: string): string {
  return path.replace(/[^\w\-.~/%]+/g, percentEncoded).replace(/%[\da-f]{2}/gi, (octet) => {
    const char = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
    return /[\w\-~]/.test(char) ? char : octet.toUpperCase()
  })
}
