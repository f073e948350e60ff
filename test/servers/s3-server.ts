/** An object store on loopback that refuses what Amazon S3 refuses, with the same codes. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { partOf } from './byte-range.ts'
import { escaped, type ListHabits, listing } from './s3-listing.ts'
import { bytesOf, isSigned, S3Refusal, type S3ServerKey, verify } from './s3-signature.ts'

export interface S3ServerOptions {
  /** `bucket/key` → content. */
  readonly objects: Readonly<Record<string, string | Uint8Array>>
  readonly keys: readonly S3ServerKey[]
  /** Where the service stands; default `us-east-1`. */
  readonly region?: string
  /** Buckets that lie in another region. */
  readonly regions?: Readonly<Record<string, string>>
  /** Buckets that anybody may read. */
  readonly public?: readonly string[]
  /** Buckets whose readers pay. */
  readonly requesterPays?: readonly string[]
  readonly lists?: ListHabits
  /** The service's clock. */
  readonly now?: () => number
}

/** One request as it came in, and what became of it. */
export interface S3Exchange {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  status: number
  /** The code of the error document. */
  code?: string
}

export interface S3Server {
  readonly url: string
  /** Host and port for requests with the bucket as first label; they still go to `url`. */
  readonly virtualHost: string
  readonly log: readonly S3Exchange[]
  close(): Promise<void>
}

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Starts the service on a free port. */
export async function startS3Server(options: S3ServerOptions): Promise<S3Server> {
  const log: S3Exchange[] = []
  const server = createServer((request, response) => {
    const exchange: S3Exchange = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, status: 0 }
    log.push(exchange)
    respond(request, response, exchange, options)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    virtualHost: `s3.localhost:${port}`,
    log,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function respond(request: IncomingMessage, response: ServerResponse, exchange: S3Exchange, options: S3ServerOptions): void {
  const now = (options.now ?? Date.now)()
  let reply: Reply
  try {
    reply = serve(request, options, now)
  } catch (error) {
    if (!(error instanceof S3Refusal)) throw error
    exchange.code = error.code
    reply = errorReply(error)
  }
  exchange.status = reply.status
  const date = new Date(now).toUTCString()
  response.writeHead(reply.status, { ...reply.headers, 'content-length': reply.body.length, 'x-amz-request-id': 'REQUEST1', date })
  response.end(request.method === 'HEAD' ? undefined : reply.body)
}

function serve(request: IncomingMessage, options: S3ServerOptions, now: number): Reply {
  const { bucket, key } = nameOf(request)
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new S3Refusal(405, 'MethodNotAllowed', 'Only GET and HEAD are allowed here.')
  if (isSigned(request)) checkSignature(request, bucket, options, now)
  else if (!options.public?.includes(bucket)) throw new S3Refusal(403, 'AccessDenied', 'Access Denied')
  const payer = request.headers['x-amz-request-payer'] ?? new URLSearchParams(request.url?.split('?')[1]).get('x-amz-request-payer')
  if (options.requesterPays?.includes(bucket) && payer !== 'requester') throw new S3Refusal(403, 'AccessDenied', 'Access Denied')
  const names = Object.keys(options.objects).filter((name) => name.startsWith(`${bucket}/`))
  if (names.length === 0) throw new S3Refusal(404, 'NoSuchBucket', 'The bucket does not exist')
  if (key === '') return listReply(bucket, request, options)
  const content = options.objects[`${bucket}/${key}`]
  if (content === undefined) throw new S3Refusal(404, 'NoSuchKey', 'The key does not exist.')
  return objectReply(content, request.headers.range)
}

/** A bucket elsewhere is told by a redirect to those who signed for this region, and by the code to all others. */
function checkSignature(
  request: IncomingMessage,
  bucket: string,
  { keys, region = 'us-east-1', regions = {} }: S3ServerOptions,
  now: number,
): void {
  const home = regions[bucket] ?? region
  try {
    verify(request, { keys, region: home, now })
  } catch (error) {
    if (
      home === region ||
      !(error instanceof S3Refusal) ||
      error.details.Region === undefined ||
      !error.message.includes(`'${region}' is wrong`)
    )
      throw error
    throw new S3Refusal(301, 'PermanentRedirect', 'The bucket must be addressed in its own region.', { Bucket: bucket, BucketRegion: home })
  }
}

function nameOf(request: IncomingMessage): { bucket: string; key: string } {
  const path = bytesOf((request.url ?? '/').split('?')[0]?.slice(1) ?? '').toString()
  const [, bucket] = /^(.+)\.s3\.localhost(?::\d+)?$/.exec(request.headers.host ?? '') ?? []
  if (bucket !== undefined) return { bucket, key: path }
  const slash = path.indexOf('/')
  return slash < 0 ? { bucket: path, key: '' } : { bucket: path.slice(0, slash), key: path.slice(slash + 1) }
}

function objectReply(content: string | Uint8Array, range: string | undefined): Reply {
  const part = partOf(content, range)
  if (!part) throw new S3Refusal(416, 'InvalidRange', 'The requested range is not satisfiable')
  return { ...part, headers: { ...part.headers, 'content-type': 'application/octet-stream' } }
}

function listReply(bucket: string, request: IncomingMessage, { objects, lists }: S3ServerOptions): Reply {
  const start = `${bucket}/`
  const own = Object.entries(objects).filter(([name]) => name.startsWith(start))
  const sizes = new Map(own.map(([name, content]) => [name.slice(start.length), Buffer.byteLength(content)]))
  const text = listing(bucket, sizes, new URLSearchParams(request.url?.split('?')[1]), lists)
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(text) }
}

function errorReply({ status, code, message, details }: S3Refusal): Reply {
  const { BucketRegion, ...shown } = details
  const elements = Object.entries({ Code: code, Message: message, ...shown, RequestId: 'REQUEST1' })
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${elements.map(([name, value]) => `<${name}>${escaped(value)}</${name}>`).join('')}</Error>`
  const headers = { 'content-type': 'application/xml', ...(BucketRegion && { 'x-amz-bucket-region': BucketRegion }) }
  return { status, headers, body: Buffer.from(text) }
}
