/** Lists of objects as Amazon S3 gives them (ListObjectsV2), and as services do that encode names the other way. */
import { S3Refusal } from './s3-signature.ts'

/** What a service does differently. */
export interface ListHabits {
  /** How spaces are written with `encoding-type=url`; Amazon writes a plus. */
  readonly space?: '+' | '%20'
  /** Ignores `encoding-type`, as some old services do. */
  readonly plainNames?: boolean
}

/** The document for a list of that bucket; `sizes` has all of its keys. */
export function listing(bucket: string, sizes: ReadonlyMap<string, number>, query: URLSearchParams, habits: ListHabits = {}): string {
  if (query.get('list-type') !== '2') throw new S3Refusal(501, 'NotImplemented', 'Only the second version of lists is here.')
  const page = Number(query.get('max-keys') ?? 1000)
  if (!Number.isInteger(page) || page < 0) throw new S3Refusal(400, 'InvalidArgument', 'Provided max-keys not an integer')
  const after = afterOf(query)
  const prefix = query.get('prefix') ?? ''
  const keys = [...sizes.keys()].filter((key) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), after) > 0).sort(byBytes)
  const shown = keys.slice(0, Math.min(page, 1000))
  const isUrl = query.get('encoding-type') === 'url' && !habits.plainNames
  const name = (key: string) => (isUrl ? encoded(key, habits.space ?? '+') : escaped(key))
  const contents = shown.map((key) => {
    const etag = escaped(`"${Buffer.from(key).toString('hex').slice(0, 32)}"`)
    const facts = `<LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>${etag}</ETag><Size>${sizes.get(key)}</Size>`
    return `<Contents><Key>${name(key)}</Key>${facts}<StorageClass>STANDARD</StorageClass></Contents>`
  })
  const isTruncated = shown.length < keys.length
  const head = `<Name>${bucket}</Name><Prefix>${name(prefix)}</Prefix>${isUrl ? '<EncodingType>url</EncodingType>' : ''}`
  const next = isTruncated ? `<NextContinuationToken>${tokenFor(shown.at(-1) ?? '')}</NextContinuationToken>` : ''
  const state = `<KeyCount>${shown.length}</KeyCount><MaxKeys>${page}</MaxKeys><IsTruncated>${isTruncated}</IsTruncated>`
  const body = `${head}${next}${state}${contents.join('')}`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${body}</ListBucketResult>`
}

/** Text inside of an element. */
export function escaped(text: string): string {
  return text.replace(/[<>&"\r]/g, (char) => `&#${char.charCodeAt(0)};`)
}

/** Tokens are opaque; these have every character that is special in a query. */
const tokenFor = (key: string) => `1/+=${Buffer.from(key).toString('base64')}`

function afterOf(query: URLSearchParams): Buffer {
  const token = query.get('continuation-token')
  if (token === null) return Buffer.from(query.get('start-after') ?? '')
  if (!token.startsWith('1/+=')) throw new S3Refusal(400, 'InvalidArgument', 'The continuation token provided is incorrect')
  return Buffer.from(token.slice(4), 'base64')
}

function encoded(key: string, space: string): string {
  return encodeURIComponent(key)
    .replace(/[!'()]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/')
    .replaceAll('%20', space)
}

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}
