/** A security token service on loopback that refuses what AWS STS refuses, with the same codes (`AssumeRoleWithWebIdentity`). */
import { type KeyObject, randomBytes } from 'node:crypto'
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from './answering-server.ts'
import { isSignedBy, publicKeyOf, readJws } from './jws.ts'
import { escaped } from './s3-listing.ts'
import type { S3ServerKey } from './s3-signature.ts'

export interface TokenServiceOptions {
  /** The provider whose ID tokens it trusts: its keys are those that it publishes. */
  readonly issuer: string
  /** Client id that tokens must be for. */
  readonly audience: string
  /** The keys that the store knows: those given are added. */
  readonly store: S3ServerKey[]
  /** The one role; without it, the service needs none, as MinIO does. */
  readonly roleArn?: string
  /** Tells whether an access token is good, where the service takes these, as Ceph and MinIO do. */
  readonly accepts?: (accessToken: string) => Promise<boolean>
  /** Milliseconds that a call takes. */
  readonly delay?: number
}

/** Starts it; it answers at `/`. */
export async function startTokenService(options: TokenServiceOptions): Promise<AnsweringServer> {
  return startAnswering(async (request) => {
    if (options.delay !== undefined) await new Promise((resolve) => setTimeout(resolve, options.delay))
    return answerTo(request, options)
  })
}

async function answerTo({ method, target, headers, body }: Inquiry, options: TokenServiceOptions): Promise<Answer> {
  if (target !== '/') return refused(404, 'NotFound', 'there is nothing')
  if (method !== 'POST' || headers['content-type'] !== 'application/x-www-form-urlencoded')
    return refused(400, 'InvalidAction', 'only forms are read')
  if (headers.authorization !== undefined) return refused(403, 'InvalidClientTokenId', 'this call is not signed')
  const form = new URLSearchParams(body)
  if (new Set(form.keys()).size !== form.size) return refused(400, 'MalformedInput', 'a parameter is there twice')
  if (form.get('Action') !== 'AssumeRoleWithWebIdentity') return refused(400, 'InvalidAction', 'unknown action')
  if (form.get('Version') !== '2011-06-15') return refused(400, 'InvalidAction', 'unknown version')
  const seconds = Number(form.get('DurationSeconds') ?? 3600)
  if (!Number.isInteger(seconds) || seconds < 900 || seconds > 43_200) return refused(400, 'ValidationError', 'DurationSeconds')
  if (!/^[\w+=,.@-]{2,64}$/.test(form.get('RoleSessionName') ?? '')) return refused(400, 'ValidationError', 'RoleSessionName')
  if (options.roleArn !== undefined && !form.has('RoleArn')) return refused(400, 'MissingParameter', 'RoleArn')
  const token = form.get('WebIdentityToken') ?? ''
  const problem = await tokenProblem(token, options)
  if (problem) return problem
  if (options.roleArn !== undefined && form.get('RoleArn') !== options.roleArn)
    return refused(403, 'AccessDenied', `Not authorized to perform sts:AssumeRoleWithWebIdentity with ${token}`)
  return granted(seconds, options.store)
}

async function tokenProblem(token: string, { issuer, audience, accepts }: TokenServiceOptions): Promise<Answer | undefined> {
  if (accepts && (await accepts(token))) return undefined
  const jws = readJws(token)
  if (!jws) return refused(400, 'InvalidIdentityToken', `Couldn't read ${token}`)
  const { iss, aud, exp } = jws.claims
  if (iss !== issuer || ![aud].flat().includes(audience)) return refused(400, 'InvalidIdentityToken', `Incorrect token audience: ${token}`)
  const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as { readonly keys: readonly unknown[] }
  const known = keys.map(publicKeyOf).filter((key): key is KeyObject => key !== undefined)
  if (!known.some((key) => isSignedBy(token, key))) return refused(400, 'InvalidIdentityToken', 'the signature is wrong')
  if (!(Number(exp) * 1000 > Date.now())) return refused(400, 'ExpiredTokenException', `Token expired: ${token}`)
  return undefined
}

function granted(seconds: number, store: S3ServerKey[]): Answer {
  const key = {
    accessKeyId: `ASIA${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64'),
    sessionToken: randomBytes(300).toString('base64'),
  }
  store.push(key)
  const members = {
    AccessKeyId: key.accessKeyId,
    SecretAccessKey: key.secretAccessKey,
    SessionToken: key.sessionToken,
    Expiration: new Date(Date.now() + seconds * 1000).toISOString(),
  }
  const credentials = Object.entries(members).map(([name, value]) => `      <${name}>${escaped(value)}</${name}>\n`)
  const text = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/reader/x</Arn></AssumedRoleUser>
    <Credentials>
${credentials.join('')}    </Credentials>
  </AssumeRoleWithWebIdentityResult>
  <ResponseMetadata><RequestId>REQUEST1</RequestId></ResponseMetadata>
</AssumeRoleWithWebIdentityResponse>`
  return { status: 200, headers: { 'content-type': 'text/xml' }, body: text }
}

function refused(status: number, code: string, message: string): Answer {
  const text = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <Error><Type>Sender</Type><Code>${code}</Code><Message>${escaped(message)}</Message></Error>
  <RequestId>REQUEST1</RequestId>
</ErrorResponse>`
  return { status, headers: { 'content-type': 'text/xml' }, body: text }
}
