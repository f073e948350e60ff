/** Signatures that open more than the address they were given for, and how much more: as much as they say themselves. */
import { covers, type Grant } from '../../auth/grant.ts'
import { parseGrant } from '../../auth/parse-grant.ts'
import { policyOf } from './policy.ts'

/** A signature and the folder that it opens. */
export interface Cover {
  readonly folder: Grant
  /** Segments of the folder's path: 0 is a whole host. */
  readonly depth: number
  /** The signature, as a query. */
  readonly query: string
}

/** Parameters of a shared access signature (Azure Storage, "Create a service SAS", "Create a user delegation SAS"). */
const SAS = new Set(
  'sv sr sdd st se sp sip spr si sig skoid sktid skt ske sks skv skdutid sduoid saoid suoid scid ses rscc rscd rsce rscl rsct'.split(' '),
)
/** Parameters of a signed address with a custom policy (CloudFront). */
const CLOUD_FRONT = new Set(['Policy', 'Signature', 'Key-Pair-Id', 'Hash-Algorithm'])

/**
 * What the signature of an address covers besides it: the container (`sr=c`) or directory (`sr=d`) of a shared access signature,
 * the folder of a policy whose resource ends in `/*`. Undefined for every other one, and when the signed address is more than
 * the one asked about with a signature behind it: how to sign the next one is then unknown.
 */
export function coverOf(signed: string, asked: string): Cover | undefined {
  const url = new URL(signed)
  const wanted = new URL(asked)
  if (url.origin !== wanted.origin || url.pathname !== wanted.pathname || wanted.search !== '') return undefined
  const names = [...url.searchParams.keys()]
  if (new Set(names).size !== names.length) return undefined
  const path = sasFolder(url, names) ?? policyFolder(url, names)
  const folder = path === undefined ? undefined : grantFor(url.origin + path)
  if (!folder || !covers(folder, wanted)) return undefined
  return { folder, depth: folder.path.split('/').length - 2, query: url.search }
}

/** That address with the signature, if it is below the folder on the same origin and has no query of its own. */
export function openedBy({ folder, query }: Cover, address: string): string | undefined {
  const url = new URL(address)
  if (url.search !== '' || !covers(folder, url)) return undefined
  url.search = query
  return url.href
}

/** The first segments of the path: the folder in which others of the same width are. */
export function folderOf(address: string, depth: number): string {
  const { protocol, host, pathname } = new URL(address)
  const path = pathname.split('/', depth + 1).join('/')
  return `${protocol}//${host}${path}/`
}

function sasFolder({ pathname, searchParams }: URL, names: readonly string[]): string | undefined {
  if (!searchParams.has('sig') || !names.every((name) => SAS.has(name))) return undefined
  const segments = pathname.split('/').slice(1)
  const kind = searchParams.get('sr')
  // A path of one segment is an object of the root container, and says nothing about others.
  if (kind === 'c') return segments.length > 1 ? `/${segments[0]}/` : undefined
  const below = searchParams.get('sdd') ?? ''
  if (kind !== 'd' || !/^\d{1,3}$/.test(below)) return undefined
  const depth = 1 + Number(below)
  return segments.length >= depth ? `/${segments.slice(0, depth).join('/')}/` : undefined
}

function policyFolder({ host, searchParams }: URL, names: readonly string[]): string | undefined {
  if (!searchParams.has('Signature') || !names.every((name) => CLOUD_FRONT.has(name))) return undefined
  const [, named, path] = /^http(?:s|\*)?:\/\/([^/?*]+)(\/(?:[^?*]*\/)?)\*$/.exec(policyOf(searchParams)?.resource ?? '') ?? []
  return named?.toLowerCase() === host ? path : undefined
}

/** Undefined for paths that servers may read in two ways. */
function grantFor(pattern: string): Grant | undefined {
  try {
    return parseGrant(pattern, { sharedHosts: true })
  } catch {
    return undefined
  }
}
