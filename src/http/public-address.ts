/**
 * Which addresses are public. What a document, a redirect or a server names must be; everything else needs the user's own word.
 * Sources: IANA special-purpose address registries (RFC 6890), RFC 6052, RFC 6761, RFC 6762.
 */

/** `*.internal` and `*.local` never belong to the public network, `localhost` never leaves the machine. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal)$/

/** IPv4 blocks that are not public. The mark lets bundlers leave them out where nobody asks. */
const PRIVATE_V4 = /* @__PURE__ */ [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(blockV4)

/**
 * True when a URL's host may be public: a name that is not reserved for private use, or a public IP literal.
 *
 * @param hostname as `URL.hostname` gives it, IPv6 literals in brackets
 */
export function isPublicHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return isPublicAddress(hostname.slice(1, -1))
  if (parseV4(hostname) !== undefined) return isPublicAddress(hostname)
  return hostname !== '' && !PRIVATE_NAME.test(hostname.toLowerCase().replace(/\.$/, ''))
}

/** True when a URL's host is this machine: `localhost`, names below it, 127.0.0.0/8 or `[::1]`. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    /^(?:.+\.)?localhost\.?$/i.test(hostname) || hostname === '[::1]' || (parseV4(hostname) !== undefined && hostname.startsWith('127.'))
  )
}

/** True when an IP address, as text without brackets, is public; what is no address is not. */
export function isPublicAddress(ip: string): boolean {
  const v4 = parseV4(ip)
  if (v4 !== undefined) return isPublicV4(v4)
  const groups = parseV6(ip)
  return groups !== undefined && isPublicV6(groups)
}

function isPublicV4(address: number): boolean {
  return !PRIVATE_V4.some(({ base, size }) => address >= base && address < base + size)
}

/** Of the whole space only 2000::/3 is in public use; forms that carry an IPv4 address lead to that address. */
function isPublicV6([a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0]: readonly number[]): boolean {
  const zero = c === 0 && d === 0 && e === 0
  if (zero && a === 0 && b === 0 && f === 0xffff) return isPublicV4(join(g, h))
  if (zero && a === 0x64 && b === 0xff9b && f === 0) return isPublicV4(join(g, h))
  if (a === 0x2002) return isPublicV4(join(b, c))
  const protocols = a === 0x2001 && b < 0x200
  const documentation = (a === 0x2001 && b === 0xdb8) || (a === 0x3fff && b < 0x1000)
  return a >= 0x2000 && a < 0x4000 && !protocols && !documentation
}

function join(high: number, low: number): number {
  return high * 0x10000 + low
}

function blockV4(cidr: string): { base: number; size: number } {
  const [ip = '', bits = ''] = cidr.split('/')
  return { base: parseV4(ip) ?? 0, size: 2 ** (32 - Number(bits)) }
}

function parseV4(text: string): number | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number)
  if (!parts || parts.some((part) => part > 255)) return undefined
  return parts.reduce((sum, part) => sum * 256 + part, 0)
}

/** Eight groups; a zone is left out, a dotted tail counts as two groups. */
function parseV6(text: string): readonly number[] | undefined {
  const bare = text.replace(/%.*$/s, '')
  const tail = parseV4(bare.slice(bare.lastIndexOf(':') + 1))
  const hex = tail === undefined ? bare : bare.replace(/[^:]+$/, `${(tail >>> 16).toString(16)}:${(tail & 0xffff).toString(16)}`)
  const [head = '', rest, ...more] = hex.split('::')
  if (!/^[0-9a-f:]+$/i.test(hex) || more.length) return undefined
  const before = groupsOf(head)
  const after = rest === undefined ? [] : groupsOf(rest)
  const missing = 8 - before.length - after.length
  if (rest === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...before, ...new Array<number>(missing).fill(0), ...after]
  return groups.every((group) => group <= 0xffff) ? groups : undefined
}

/** An empty or over-long group is NaN, which no comparison accepts. */
function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => (/^[0-9a-f]{1,4}$/i.test(group) ? Number.parseInt(group, 16) : Number.NaN))
}
