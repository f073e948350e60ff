/**
 * Signing one GET with a session token, against the signers that people use and against the floor: the one SHA-256 and the
 * one HMAC that no signer can do without, in processor time. All take turns, so that a busy machine slows all of them.
 */
import { createHash, createHmac, createSecretKey, hash } from 'node:crypto'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { SignatureV4 } from '@smithy/signature-v4'
import aws4 from 'aws4'
import { presign, signHeaders } from '../dist/strategies/s3/sigv4.js'

const region = 'eu-central-1'
const host = `eo-bucket.s3.${region}.amazonaws.com`
const path = '/sentinel-2/2026/11/20/S2B_MSIL2A_20261120T100309/B04_10m.tif'
const request = { method: 'GET', url: `https://${host}${path}`, headers: { accept: '*/*' } }
const keys = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: 'IQoJb3JpZ2luX2VjEXAMPLE/token+'.repeat(12),
}

/** The hash that smithy asks for, by node:crypto. */
class NodeHash {
  constructor(secret) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret)
  }
  update(data) {
    this.hash.update(data)
  }
  async digest() {
    return this.hash.digest()
  }
}

/** Name → how often it is called in one turn, and the call. */
const CONTENDERS = {
  ours: [20_000, () => signHeaders(request, keys, { region, now: Date.now() })],
  'ours, presigned': [20_000, () => presign(request, keys, { region, now: Date.now(), expiresIn: 900 })],
  floor: [20_000, floor()],
  aws4: [10_000, () => aws4.sign({ host, path, service: 's3', region, headers: { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' } }, keys)],
  'aws4, presigned': [10_000, () => aws4.sign({ host, path: `${path}?X-Amz-Expires=900`, service: 's3', region, signQuery: true }, keys)],
  smithy: [5_000, smithy()],
  getSignedUrl: [300, signedUrl()],
}

/** Arguments of `run` for the smallest measurement. */
export const smallest = [3]

/** Rows of `{ name, ratio, target, unit, details }`; a ratio at or above its target is good. */
export async function run(rounds = 15) {
  const times = new Map(Object.keys(CONTENDERS).map((name) => [name, []]))
  for (let round = -2; round < rounds; round++) {
    for (const [name, [calls, call]] of Object.entries(CONTENDERS)) {
      const time = await measure(call, calls)
      if (round >= 0) times.get(name).push(time)
    }
  }
  const median = (name) => times.get(name).sort((one, other) => one - other)[rounds >> 1]
  const row = (name, ours, other, target) => {
    const details = `${median(ours).toFixed(2)} µs against ${median(other).toFixed(2)} µs (${other})`
    return { name, ratio: median(other) / median(ours), target, unit: '×', better: 'higher', steady: true, details }
  }
  return [
    row('S3 header signature: aws4', 'ours', 'aws4', 2),
    row('S3 header signature: @smithy/signature-v4', 'ours', 'smithy', 2),
    row('S3 header signature: getSignedUrl', 'ours', 'getSignedUrl', 40),
    row('S3 header signature: share of the crypto floor', 'ours', 'floor', 0.45),
    row('S3 presigning: aws4', 'ours, presigned', 'aws4, presigned', 2),
    row('S3 presigning: getSignedUrl', 'ours, presigned', 'getSignedUrl', 40),
    row('S3 presigning: share of the crypto floor', 'ours, presigned', 'floor', 0.4),
  ]
}

/** Microseconds of processor time per call. */
async function measure(call, calls) {
  const start = process.cpuUsage()
  for (let count = 0; count < calls; count++) {
    const result = call()
    if (result instanceof Promise) await result
  }
  const { user, system } = process.cpuUsage(start)
  return (user + system) / calls
}

/** The two hashes over texts of the same length, with a key that is already imported. */
function floor() {
  const key = createSecretKey(Buffer.alloc(32, 7))
  const names = 'host;x-amz-content-sha256;x-amz-date;x-amz-security-token'
  const lines = `host:${host}\nx-amz-content-sha256:UNSIGNED-PAYLOAD\nx-amz-date:20261120T000000Z\nx-amz-security-token:${keys.sessionToken}\n`
  const canonical = `GET\n${path}\n\n${lines}\n${names}\nUNSIGNED-PAYLOAD`
  const scope = `AWS4-HMAC-SHA256\n20261120T000000Z\n20261120/${region}/s3/aws4_request\n`
  return () =>
    createHmac('sha256', key)
      .update(scope + hash('sha256', canonical))
      .digest('hex')
}

function smithy() {
  const signer = new SignatureV4({ credentials: keys, region, service: 's3', sha256: NodeHash, uriEscapePath: false, applyChecksum: false })
  const headers = { host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
  return () => signer.sign({ method: 'GET', protocol: 'https:', hostname: host, path, query: {}, headers })
}

function signedUrl() {
  const client = new S3Client({ region, credentials: keys })
  const command = new GetObjectCommand({ Bucket: 'eo-bucket', Key: path.slice(1) })
  return () => getSignedUrl(client, command, { expiresIn: 900 })
}

if (import.meta.filename === process.argv[1]) console.table(await run())
