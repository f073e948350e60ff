/** The user's bucket, by the AWS SDK: its own keys, endpoint and retries, apart from those with which files are fetched. */

import { Agent, type AgentOptions } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { ConfigurationError, CredentialError, IntegrityError, isAuthError } from '../../../errors.ts'
import { missingPackage } from '../../base/system-error.ts'
import { guardedConnect } from '../../transport/guarded-connect.ts'
import { environmentProxies, type Proxies } from '../../transport/proxies.ts'
import type { PresentFile } from './destination.ts'

/** A bucket and the beginning of the keys. */
export interface BucketAddress {
  readonly bucket: string
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string
}

/** Parses `s3://bucket/prefix`. Errors: `USAGE`. */
export function bucketAddressOf(text: string): BucketAddress {
  const [, bucket, rest = ''] = /^s3:\/\/([a-z0-9][a-z0-9._-]{1,61}[a-z0-9])(?:\/([^?#]*))?$/i.exec(text) ?? []
  const prefix = rest.replace(/\/+$/, '')
  const segments = prefix === '' ? [] : prefix.split('/')
  const isPlain = segments.every((segment) => !/^\.{0,2}$/.test(segment) && !/[\u0000-\u001f\u007f\\]/.test(segment))
  if (bucket !== undefined && isPlain) return { bucket, prefix }
  throw new ConfigurationError('USAGE', `"${text}" is not a bucket: it must be s3://bucket or s3://bucket/prefix, without a query`)
}

/** Loads the optional packages. */
async function importSdk(): Promise<readonly [Sdk, Storage]> {
  try {
    return [await import('@aws-sdk/client-s3'), await import('@aws-sdk/lib-storage')]
  } catch (error) {
    throw missingPackage(error, { subject: 'a bucket', packages: ['@aws-sdk/client-s3', '@aws-sdk/lib-storage'] })
  }
}

type Sdk = typeof import('@aws-sdk/client-s3')
type Storage = typeof import('@aws-sdk/lib-storage')

/** Loads the packages at the first request. */
export class BucketClient {
  readonly #bucket: string
  #loaded: Promise<{ readonly client: S3Client; readonly sdk: Sdk; readonly storage: Storage }> | undefined

  constructor(bucket: string) {
    this.#bucket = bucket
  }

  /** Returns size and time of an object; undefined if it does not exist. */
  async head(key: string): Promise<PresentFile | undefined> {
    try {
      const { client, sdk } = await this.#started()
      const found = await client.send(new sdk.HeadObjectCommand({ Bucket: this.#bucket, Key: key }))
      return { size: found.ContentLength ?? 0, modified: found.LastModified?.getTime() ?? 0 }
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw this.#failure(error, 'read', key)
    }
  }

  /** Yields the content of an object, or the first bytes of it. */
  async *get(key: string, first?: number): AsyncGenerator<Uint8Array> {
    try {
      const range = first === undefined ? {} : { Range: `bytes=0-${first - 1}` }
      const { client, sdk } = await this.#started()
      const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket: this.#bucket, Key: key, ...range }))
      if (Body) yield* Body as Readable
    } catch (error) {
      // An empty object has no first byte.
      if (first !== undefined && statusOf(error) === 416) return
      throw this.#failure(error, 'read', key)
    }
  }

  /** Creates a small object; returns false if it has to be read again, because another process has created it or may have. */
  async create(key: string, text: string): Promise<boolean> {
    try {
      await this.#put(key, text, '*')
      return true
    } catch (error) {
      if (statusOf(error) === 412 || statusOf(error) === 409) return false
      if (statusOf(error) !== 501) throw this.#failure(error, 'write', key)
    }
    // Services without conditional writes cannot tell who was first.
    if (await this.head(key)) return false
    try {
      await this.#put(key, text)
      return false
    } catch (error) {
      throw this.#failure(error, 'write', key)
    }
  }

  async #put(key: string, text: string, IfNoneMatch?: '*'): Promise<void> {
    const { client, sdk } = await this.#started()
    await client.send(new sdk.PutObjectCommand({ Bucket: this.#bucket, Key: key, Body: Buffer.from(text), IfNoneMatch }))
  }

  /** Yields the keys that begin with a prefix, in their order. */
  async *keys(prefix: string): AsyncGenerator<string> {
    let from: string | undefined
    do {
      const { keys, next } = await this.#page(prefix, from)
      yield* keys
      from = next
    } while (from !== undefined)
  }

  /**
   * Uploads a stream: at once if it is short, otherwise in parts, each with a checksum that the service verifies. Destroying the stream aborts
   * the upload and removes its parts.
   *
   * @param partSize in bytes, at least 5 MiB
   * @param concurrent parts that are sent at a time
   */
  async upload(key: string, body: Readable, partSize: number, concurrent: number): Promise<void> {
    try {
      const { client, storage } = await this.#started()
      const params = { Bucket: this.#bucket, Key: key, Body: body }
      await new storage.Upload({ client, params, partSize, queueSize: concurrent }).done()
    } catch (error) {
      throw this.#failure(error, 'write', key)
    }
  }

  async #page(prefix: string, from: string | undefined): Promise<{ readonly keys: readonly string[]; readonly next: string | undefined }> {
    try {
      const { client, sdk } = await this.#started()
      const wanted = { Bucket: this.#bucket, Prefix: prefix, ...(from !== undefined && { ContinuationToken: from }) }
      const { Contents = [], NextContinuationToken: next } = await client.send(new sdk.ListObjectsV2Command(wanted))
      return { keys: Contents.flatMap(({ Key }) => Key ?? []), next }
    } catch (error) {
      throw this.#failure(error, 'list', prefix)
    }
  }

  #started() {
    this.#loaded ??= this.#start()
    return this.#loaded
  }

  async #start() {
    const [sdk, storage] = await importSdk()
    const proxies = environmentProxies(process.env)
    const settings = {
      followRegionRedirects: true,
      forcePathStyle: hasOwnEndpoint(process.env),
      ...(proxies && { requestHandler: agentsFor(proxies) }),
    }
    const client = new sdk.S3Client(settings)
    const hasRegion = await client.config.region().then(
      () => true,
      () => false,
    )
    // Services with an endpoint of their own often have no region; those of AWS say which one is right.
    return { client: hasRegion ? client : new sdk.S3Client({ ...settings, region: 'us-east-1' }), sdk, storage }
  }

  /** The texts of the SDK may contain key ids, so only the code of the service is shown. */
  #failure(error: unknown, what: 'read' | 'write' | 'list', key: string): Error {
    if (isAuthError(error)) return error
    const { name = '', code = '' } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown }
    const place = `"s3://${this.#bucket}/${key}"`
    if (name === 'CredentialsProviderError') {
      return new CredentialError('CREDENTIAL_SOURCE', `cannot ${what} ${place}: there are no keys for this bucket`, { hint: KEYS })
    }
    const status = statusOf(error)
    const word = [name, code].find((text) => typeof text === 'string' && /^[A-Z]\w{2,63}$/.test(text) && text !== 'Error') ?? 'no answer'
    const hint = HINTS[String(word)] ?? (status === 403 ? HINTS.AccessDenied : undefined)
    return new IntegrityError('FILE_ACCESS', `cannot ${what} ${place}: ${word}${status === undefined ? '' : ` (${status})`}`, {
      ...(hint !== undefined && { hint }),
    })
  }
}

const KEYS = 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, as for the aws command'

const HINTS: Readonly<Record<string, string>> = {
  AccessDenied: 'the keys need s3:ListBucket, s3:GetObject, s3:PutObject and s3:AbortMultipartUpload there',
  InvalidAccessKeyId: KEYS,
  SignatureDoesNotMatch: KEYS,
  ExpiredToken: KEYS,
  NoSuchBucket: 'create the bucket first; for another service than AWS set AWS_ENDPOINT_URL',
}

function statusOf(error: unknown): number | undefined {
  const { $metadata } = (error ?? {}) as { readonly $metadata?: { readonly httpStatusCode?: number } }
  return $metadata?.httpStatusCode
}

/** Milliseconds for the connection to a bucket through a proxy. */
const CONNECT_TIMEOUT = 10_000

/** Returns agents that open a tunnel for each connection for which the environment names a proxy. */
function agentsFor(proxies: Proxies) {
  const connect = guardedConnect({ allowPrivateNetwork: true, timeout: CONNECT_TIMEOUT, proxies })
  // The limit of the SDK.
  const options: AgentOptions = { keepAlive: true, maxSockets: 50 }
  const through = <T extends Agent>(agent: T, protocol: string): T =>
    Object.assign(agent, {
      createConnection: (
        { host = '', port }: AgentOptions & { host?: string; port?: number | string },
        created: Parameters<typeof connect>[1],
      ) => connect({ hostname: host, host, protocol, port: String(port ?? ''), servername: host }, created),
    })
  return { httpAgent: through(new Agent(options), 'http:'), httpsAgent: through(new TlsAgent(options), 'https:') }
}

/** Services with an endpoint of their own rarely have a host name for each bucket. */
function hasOwnEndpoint({ AWS_ENDPOINT_URL_S3: own, AWS_ENDPOINT_URL: all }: NodeJS.ProcessEnv): boolean {
  const endpoint = own || all
  return !!endpoint && !/\.amazonaws\.com(?:\.cn)?(?::\d+)?\/?$/i.test(endpoint)
}
