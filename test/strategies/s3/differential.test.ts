import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import aws4 from 'aws4'
import { AwsClient } from 'aws4fetch'
import { describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { presign, signHeaders } from '../../../src/strategies/s3/sigv4.ts'
import { caseCount } from '../../harness/case-count.ts'
import { type Case, cases, urlOf } from './cases.ts'

const EMPTY = createHash('sha256').update('').digest('hex')

/** The hash that smithy asks for. */
class Sha256 {
  readonly #secret: Uint8Array | string | undefined
  readonly #parts: (string | Uint8Array)[] = []

  constructor(secret?: unknown) {
    this.#secret = typeof secret === 'string' ? secret : secret instanceof Uint8Array ? secret : undefined
  }
  update(data: Uint8Array | string) {
    this.#parts.push(data)
  }
  async digest() {
    const hash = this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret)
    for (const part of this.#parts) hash.update(part)
    return new Uint8Array(hash.digest())
  }
  reset() {
    this.#parts.length = 0
  }
}

async function ours(one: Case): Promise<string> {
  const request = { method: 'GET', url: urlOf(one), headers: one.headers }
  const { region, now, expiresIn } = one
  const signed = await (expiresIn ? presign(request, one, { region, now, expiresIn }) : signHeaders(request, one, { region, now }))
  return signatureIn(signed.headers.authorization ?? signed.url)
}

/** `x-amz-*` headers are left out when presigning: the signature in a query covers `host` alone. */
async function smithy(one: Case): Promise<string> {
  const { accessKeyId, secretAccessKey, sessionToken, region, now, expiresIn, host, protocol } = one
  const [hostname = '', port] = host.split(':')
  const signer = new SignatureV4({
    credentials: { accessKeyId, secretAccessKey, sessionToken },
    region,
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  })
  const extra = one.headers['x-amz-checksum-mode']
  const request = {
    method: 'GET',
    protocol,
    hostname,
    ...(port && { port: Number(port) }),
    path: encodedPath(one.path),
    query: { ...one.query },
    headers: {
      host,
      ...(extra && !expiresIn && { 'x-amz-checksum-mode': extra }),
      'x-amz-content-sha256': expiresIn || protocol === 'https:' ? 'UNSIGNED-PAYLOAD' : EMPTY,
    },
  }
  const signingDate = new Date(now)
  if (!expiresIn) return signatureIn((await signer.sign(request, { signingDate })).headers.authorization ?? '')
  const unsignableHeaders = new Set(['x-amz-content-sha256'])
  const signed = await signer.presign(request, { signingDate, expiresIn, unsignableHeaders, unhoistableHeaders: unsignableHeaders })
  return String(signed.query?.['X-Amz-Signature'])
}

function signatureIn(text: string): string {
  return /Signature=([0-9a-f]{64})$/.exec(text)?.[1] ?? text
}

function encodedPath(path: string): string {
  return encodeURIComponent(path)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

describe('against @smithy/signature-v4', () => {
  /** SubtleCrypto is slow for short texts, and only the hashes differ there. */
  const count = platform.sha256Hex('') instanceof Promise ? 1_000 : caseCount(12_000, 1_000)

  it(`signs ${count} odd requests the same`, { timeout: 60 * count }, async () => {
    const seen = { presigned: 0, tokens: 0, ports: 0, plain: 0 }
    for (const one of cases(count, 20261120)) {
      if ((await ours(one)) !== (await smithy(one)))
        expect({ one, url: urlOf(one), signature: await ours(one) }).toEqual({ signature: await smithy(one) })
      seen.presigned += one.expiresIn ? 1 : 0
      seen.tokens += one.sessionToken ? 1 : 0
      seen.ports += one.host.includes(':') ? 1 : 0
      seen.plain += one.protocol === 'http:' ? 1 : 0
    }
    for (const found of Object.values(seen)) expect(found).toBeGreaterThan(count / 6)
  })
})

describe('against the small signers, on requests that they agree on', () => {
  /** Other keys and queries are encoded differently by them; smithy decides there. */
  const plain = [...cases(3_000, 7)].filter(({ path, query, headers, protocol }) => {
    return (
      /^[\w\-./]*$/.test(path) &&
      !path.includes('//') &&
      Object.keys(query).length === 0 &&
      !headers['x-amz-checksum-mode'] &&
      protocol === 'https:'
    )
  })

  it('against the small signers, on requests that they agree on has enough of them', () => {
    expect(plain.length).toBeGreaterThan(20)
  })

  it('signs headers like aws4', async () => {
    for (const one of plain.filter(({ expiresIn }) => !expiresIn)) {
      const { host, path, region, now, accessKeyId, secretAccessKey, sessionToken } = one
      const date = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '')
      const request = {
        host,
        path,
        service: 's3',
        region,
        headers: { Host: host, 'X-Amz-Date': date, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' },
      }
      const signed = aws4.sign(request, { accessKeyId, secretAccessKey, sessionToken })
      expect(await ours(one)).toBe(signatureIn(String(signed.headers.Authorization)))
    }
  })

  it('signs headers and queries like aws4fetch', async () => {
    for (const one of plain) {
      const { region, now, accessKeyId, secretAccessKey, sessionToken, expiresIn } = one
      const client = new AwsClient({ accessKeyId, secretAccessKey, sessionToken, service: 's3', region })
      const url = new URL(urlOf(one))
      if (expiresIn) url.searchParams.set('X-Amz-Expires', String(expiresIn))
      const datetime = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '')
      const signed = await client.sign(url.href, { aws: { datetime, signQuery: expiresIn !== undefined } })
      const signature = expiresIn
        ? new URL(signed.url).searchParams.get('X-Amz-Signature')
        : signatureIn(signed.headers.get('authorization') ?? '')
      expect(await ours(one)).toBe(signature)
    }
  })
})
