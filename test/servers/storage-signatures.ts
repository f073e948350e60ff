/** Signatures that open folders, as storage and delivery networks make them, and the check that believes no other. */
import { createHmac, generateKeyPairSync, sign as signWith, verify } from 'node:crypto'
import { sameText } from './guards.ts'

/** Gives queries that open a folder, and says which status an address gets. */
export interface FolderSigner {
  /** The query for everything below the folder, which begins and ends with a slash; ends so many seconds from now. */
  query(folder: string, life?: number): string
  /** 200 for an address whose query opens it, else 403. */
  statusOf(address: string): number
}

/** Shared access signatures of Azure Storage: `sr=c` for `/container/`, `sr=d` with `sdd` below it. */
export function createSas(key: string, now: () => number = Date.now): FolderSigner {
  const signatureOf = (folder: string, end: string) => createHmac('sha256', key).update(`${folder}\n${end}`).digest('base64')
  const folderOf = (pathname: string, depth: number) => `${pathname.split('/', depth + 1).join('/')}/`
  return {
    query(folder, life = 3600) {
      const depth = folder.split('/').length - 2
      const se = `${new Date(now() + life * 1000).toISOString().slice(0, 19)}Z`
      const kind: Record<string, string> = depth === 1 ? { sr: 'c' } : { sr: 'd', sdd: String(depth - 1) }
      return new URLSearchParams({ sv: '2022-11-02', ...kind, sp: 'rl', se, sig: signatureOf(folder, se) }).toString()
    },
    statusOf(address) {
      const { pathname, searchParams } = new URL(address)
      const { sr, sdd = '0', se = '', sig = '' } = Object.fromEntries(searchParams)
      const depth = sr === 'c' ? 1 : sr === 'd' ? 1 + Number(sdd) : 99
      return sameText(sig, signatureOf(folderOf(pathname, depth), se)) && Date.parse(se) > now() ? 200 : 403
    },
  }
}

/** Signed addresses of CloudFront with a custom policy for `https://host/folder/*`. */
export function createCloudFront(host: string, now: () => number = Date.now): FolderSigner {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const encoded = (bytes: Buffer) => bytes.toString('base64').replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~')
  const decoded = (text: string) => Buffer.from(text.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/'), 'base64')
  return {
    query(folder, life = 3600) {
      const end = Math.floor(now() / 1000) + life
      const Condition = { DateLessThan: { 'AWS:EpochTime': end } }
      const policy = Buffer.from(JSON.stringify({ Statement: [{ Resource: `https://${host}${folder}*`, Condition }] }))
      return `Policy=${encoded(policy)}&Signature=${encoded(signWith('RSA-SHA1', policy, privateKey))}&Key-Pair-Id=K1`
    },
    statusOf(address) {
      const url = new URL(address)
      const { Policy = '', Signature = '' } = Object.fromEntries(url.searchParams)
      const policy = decoded(Policy)
      if (!verify('RSA-SHA1', policy, publicKey, decoded(Signature))) return 403
      const { Resource, Condition } = JSON.parse(policy.toString()).Statement[0]
      const isBelow = `${url.origin}${url.pathname}`.startsWith(Resource.slice(0, -1))
      return isBelow && Condition.DateLessThan['AWS:EpochTime'] * 1000 > now() ? 200 : 403
    },
  }
}
