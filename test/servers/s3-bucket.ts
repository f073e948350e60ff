/** A bucket on loopback that can be written: it refuses what Amazon S3 refuses of uploads, at once and in parts, with the same codes. */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32 } from 'node:zlib'
import { partOf } from './byte-range.ts'
import { escaped, listing } from './s3-listing.ts'
import { bytesOf, S3Refusal, type S3ServerKey, verify } from './s3-signature.ts'

export interface S3BucketOptions {
  readonly bucket: string
  readonly key: S3ServerKey
  readonly region?: string
  /** False: conditional writes are refused, as by services that do not have them. */
  readonly hasConditionalWrites?: boolean
  /** Decides about a request before it is carried out: a status refuses it, a promise delays it. */
  readonly onRequest?: (operation: string, key: string) => number | undefined | Promise<number | undefined>
}

export interface S3Bucket {
  readonly url: string
  /** Objects by key. */
  readonly objects: ReadonlyMap<string, Buffer>
  /** Uploads that were neither completed nor aborted. */
  readonly uploads: ReadonlyMap<string, unknown>
  /** Operations with their keys, in their order: `PutObject a/b`. */
  readonly log: readonly string[]
  /** Headers of all requests. */
  readonly headers: readonly IncomingMessage['headers'][]
  close(): Promise<void>
}

interface Upload {
  readonly key: string
  readonly parts: Map<number, { readonly etag: string; readonly body: Buffer }>
}

interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | string
}

/** Least size of a part but the last. */
const LEAST_PART = 5 * 2 ** 20

export async function startS3Bucket(options: S3BucketOptions): Promise<S3Bucket> {
  const store = new Store(options)
  const server = createServer((request, response) => void store.respond(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    objects: store.objects,
    uploads: store.uploads,
    log: store.log,
    headers: store.headers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

class Store {
  readonly objects = new Map<string, Buffer>()
  readonly uploads = new Map<string, Upload>()
  readonly log: string[] = []
  readonly headers: IncomingMessage['headers'][] = []
  readonly #options: S3BucketOptions

  constructor(options: S3BucketOptions) {
    this.#options = options
  }

  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers.push(request.headers)
    let reply: Reply
    try {
      reply = await this.#serve(request, await bodyIn(request))
    } catch (error) {
      if (!(error instanceof S3Refusal)) {
        response.destroy()
        return
      }
      const { status, code, message } = error
      reply = { status, body: `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>${escaped(message)}</Message></Error>` }
    }
    const body = Buffer.from(reply.body ?? '')
    const length = { 'content-length': String(body.length) }
    response.writeHead(reply.status, { 'x-amz-request-id': 'R1', 'content-type': 'application/xml', ...length, ...reply.headers })
    response.end(request.method === 'HEAD' ? undefined : body)
  }

  async #serve(request: IncomingMessage, body: Buffer): Promise<Reply> {
    const { bucket, key: owner, region = 'us-east-1', onRequest } = this.#options
    const [path = '', search = ''] = (request.url ?? '').split('?')
    const [, name, key = ''] = /^\/([^/]+)(?:\/(.*))?$/s.exec(bytesOf(path).toString()) ?? []
    const query = new URLSearchParams(search)
    verify(request, { keys: [owner], region, now: Date.now(), bodyHash: createHash('sha256').update(body).digest('hex') })
    if (name !== bucket) throw new S3Refusal(404, 'NoSuchBucket', 'The specified bucket does not exist')
    checkSum(request, body)
    const operation = operationOf(request.method ?? '', key, query)
    this.log.push(`${operation} ${key}`)
    const refused = await onRequest?.(operation, key)
    if (refused !== undefined) throw new S3Refusal(refused, refused === 403 ? 'AccessDenied' : 'InternalError', 'refused')
    return this.#perform(operation, key, query, body, request)
  }

  #perform(operation: string, key: string, query: URLSearchParams, body: Buffer, { headers }: IncomingMessage): Reply {
    if (operation === 'ListObjectsV2') {
      const sizes = new Map([...this.objects].map(([name, { length }]) => [name, length]))
      return { status: 200, body: listing(this.#options.bucket, sizes, query) }
    }
    if (operation === 'PutObject') {
      if (headers['if-none-match'] !== undefined && this.#options.hasConditionalWrites === false)
        throw new S3Refusal(501, 'NotImplemented', 'A header you provided implies functionality that is not implemented.')
      if (headers['if-none-match'] === '*' && this.objects.has(key)) throw new S3Refusal(412, 'PreconditionFailed', 'It exists.')
      this.objects.set(key, body)
      return { status: 200, headers: { etag: etagOf(body) } }
    }
    if (operation === 'CreateMultipartUpload') {
      const id = randomUUID()
      this.uploads.set(id, { key, parts: new Map() })
      return { status: 200, body: element('InitiateMultipartUploadResult', { Key: key, UploadId: id }) }
    }
    if (operation === 'GetObject' || operation === 'HeadObject') return this.#object(key, headers.range)
    const id = query.get('uploadId') ?? ''
    const upload = this.uploads.get(id)
    if (upload?.key !== key) throw new S3Refusal(404, 'NoSuchUpload', 'The specified multipart upload does not exist.')
    if (operation === 'UploadPart') {
      const number = Number(query.get('partNumber'))
      if (!(number >= 1 && number <= 10_000)) throw new S3Refusal(400, 'InvalidArgument', 'Part number must be from 1 to 10000')
      upload.parts.set(number, { etag: etagOf(body), body })
      const sum = headers['x-amz-checksum-crc32']
      return { status: 200, headers: { etag: etagOf(body), ...(typeof sum === 'string' && { 'x-amz-checksum-crc32': sum }) } }
    }
    this.uploads.delete(id)
    if (operation === 'AbortMultipartUpload') return { status: 204 }
    const whole = assembled(upload, body.toString())
    this.objects.set(key, whole)
    return { status: 200, body: element('CompleteMultipartUploadResult', { Key: key, ETag: etagOf(whole) }) }
  }

  #object(key: string, range: string | undefined): Reply {
    const content = this.objects.get(key)
    if (!content) throw new S3Refusal(404, 'NoSuchKey', 'The specified key does not exist.')
    const part = partOf(content, range)
    if (!part) throw new S3Refusal(416, 'InvalidRange', 'The requested range is not satisfiable')
    const facts = { etag: etagOf(content), 'last-modified': 'Fri, 02 Jan 2026 03:04:05 GMT', 'content-type': 'application/octet-stream' }
    return { ...part, headers: { ...part.headers, ...facts } }
  }
}

/** Puts the listed parts together. */
function assembled({ parts }: Upload, list: string): Buffer {
  const listed = [...list.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
    number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
    etag: /<ETag>(.*?)</.exec(part)?.[1]?.replaceAll('&quot;', '"') ?? '',
  }))
  if (listed.length === 0) throw new S3Refusal(400, 'MalformedXML', 'There are no parts.')
  const chunks = listed.map(({ number, etag }, index) => {
    if (index > 0 && number <= (listed[index - 1]?.number ?? 0)) throw new S3Refusal(400, 'InvalidPartOrder', 'Parts must ascend.')
    const part = parts.get(number)
    if (!part || part.etag !== etag) throw new S3Refusal(400, 'InvalidPart', 'A part was not found, or has another entity tag.')
    if (index < listed.length - 1 && part.body.length < LEAST_PART) throw new S3Refusal(400, 'EntityTooSmall', 'A part is too small.')
    return part.body
  })
  return Buffer.concat(chunks)
}

function operationOf(method: string, key: string, query: URLSearchParams): string {
  const isUpload = query.has('uploadId')
  if (key === '' && method === 'GET') return 'ListObjectsV2'
  if (method === 'GET') return 'GetObject'
  if (method === 'HEAD') return 'HeadObject'
  if (method === 'PUT') return isUpload ? 'UploadPart' : 'PutObject'
  if (method === 'POST' && query.has('uploads')) return 'CreateMultipartUpload'
  if (method === 'POST' && isUpload) return 'CompleteMultipartUpload'
  if (method === 'DELETE' && isUpload) return 'AbortMultipartUpload'
  throw new S3Refusal(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.')
}

function checkSum({ headers }: IncomingMessage, body: Buffer): void {
  const sum = headers['x-amz-checksum-crc32']
  if (sum === undefined) return
  const actual = Buffer.alloc(4)
  actual.writeUInt32BE(crc32(body))
  if (actual.toString('base64') !== sum) throw new S3Refusal(400, 'BadDigest', 'The CRC32 you specified did not match what we received.')
}

async function bodyIn(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function etagOf(body: Buffer): string {
  const tag = tags.get(body) ?? `"${createHash('md5').update(body).digest('hex')}"`
  tags.set(body, tag)
  return tag
}
/** An object is hashed once, not for each request. */
const tags = new WeakMap<Buffer, string>()

function element(name: string, members: Readonly<Record<string, string>>): string {
  const inner = Object.entries(members).map(([member, value]) => `<${member}>${escaped(value)}</${member}>`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner.join('')}</${name}>`
}
