/**
 * The services of AWS that give temporary keys, on loopback: STS, the portal of IAM Identity Center (SSO), the agent of
 * containers and the metadata of instances (version 2). Each refuses what the real one refuses.
 */
import { createHash, createHmac } from 'node:crypto'
import { type Answer, type AnsweringServer, type Inquiry, jsonAnswer, startAnswering } from './answering-server.ts'
import type { S3ServerKey } from './s3-signature.ts'

export interface AwsAccount {
  /** Keys that may assume roles. */
  readonly keys: readonly S3ServerKey[]
  /** The one role there is, and who knows its external id. */
  readonly roleArn: string
  readonly externalId?: string
  /** The token of an identity provider that stands for the role. */
  readonly webIdentity: string
  /** The access token of a person's session. */
  readonly session: string
  /** What the agent of the container wants to see. */
  readonly containerToken: string
}

export const END = new Date('2038-01-19T03:14:07Z')

/** The keys that each service gives. */
export const GIVEN = {
  role: keysOf('role'),
  web: keysOf('web'),
  person: keysOf('person'),
  container: keysOf('container'),
  instance: keysOf('instance'),
}

export function startAwsServices(account: AwsAccount): Promise<AnsweringServer> {
  return startAnswering((request) => {
    const { path, method } = request
    if (method === 'POST' && path === '/') return sts(request, account)
    if (path === '/federation/credentials') return portal(request, account)
    if (path === '/container') return container(request, account)
    return instance(request)
  })
}

function sts({ headers, body }: Inquiry, { keys, roleArn, externalId, webIdentity }: AwsAccount): Answer {
  const form = new URLSearchParams(body)
  const action = form.get('Action')
  if (form.get('RoleArn') !== roleArn) return refusal(403, 'AccessDenied')
  if (action === 'AssumeRoleWithWebIdentity') {
    return form.get('WebIdentityToken') === webIdentity ? assumed(action, GIVEN.web) : refusal(400, 'InvalidIdentityToken')
  }
  if (action !== 'AssumeRole') return refusal(400, 'InvalidAction')
  const problem = signatureProblem(headers, body, keys)
  if (problem) return refusal(403, problem)
  if (externalId !== undefined && form.get('ExternalId') !== externalId) return refusal(403, 'AccessDenied')
  return assumed(action, GIVEN.role)
}

/** What is wrong with a signature of version 4 for STS; undefined when nothing is. */
function signatureProblem(headers: Inquiry['headers'], body: string, keys: readonly S3ServerKey[]): string | undefined {
  const [, id, scope = '', signed = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)$/.exec(headers.authorization ?? '') ?? []
  const key = keys.find(({ accessKeyId }) => accessKeyId === id)
  if (!key) return 'InvalidClientTokenId'
  if (headers['x-amz-security-token'] !== key.sessionToken) return 'InvalidClientTokenId'
  if (key.expired) return 'ExpiredToken'
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const canonical = ['POST', '/', '', lines.join(''), signed, hash(body)].join('\n')
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash(canonical)].join('\n')
  const signingKey = scope.split('/').reduce<Buffer>((last, part) => hmac(last, part), Buffer.from(`AWS4${key.secretAccessKey}`))
  return scope.endsWith('/sts/aws4_request') && hmac(signingKey, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch'
}

function assumed(action: string, { accessKeyId, secretAccessKey, sessionToken }: (typeof GIVEN)['role']): Answer {
  const names = { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken, Expiration: END.toISOString() }
  const elements = Object.entries(names).map(([name, value]) => `<${name}>${value}</${name}>`)
  const result = `<${action}Result><Credentials>${elements.join('')}</Credentials></${action}Result>`
  return { status: 200, headers: { 'content-type': 'text/xml' }, body: `<${action}Response>${result}</${action}Response>` }
}

function refusal(status: number, code: string): Answer {
  const body = `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>arn:aws:iam::1:user/ada may not</Message></Error></ErrorResponse>`
  return { status, headers: { 'content-type': 'text/xml' }, body }
}

function portal({ headers, query }: Inquiry, { session }: AwsAccount): Answer {
  if (headers['x-amz-sso_bearer_token'] !== session) {
    return jsonAnswer(401, { message: 'Session token not found or invalid' }, { 'x-amzn-errortype': 'UnauthorizedException' })
  }
  if (query.get('role_name') !== 'Reader' || query.get('account_id') !== '123456789012') {
    return jsonAnswer(403, { message: 'No access' }, { 'x-amzn-errortype': 'ForbiddenException' })
  }
  return jsonAnswer(200, { roleCredentials: { ...GIVEN.person, expiration: END.getTime() } })
}

function container({ headers }: Inquiry, { containerToken }: AwsAccount): Answer {
  if (headers.authorization !== containerToken) return jsonAnswer(400, { code: 'InvalidToken', message: 'wrong token' })
  return jsonAnswer(200, inCapitals(GIVEN.container))
}

const METADATA = '/latest/meta-data/iam/security-credentials/'

function instance({ method, path, headers }: Inquiry): Answer {
  if (method === 'PUT' && path === '/latest/api/token') {
    return headers['x-aws-ec2-metadata-token-ttl-seconds'] ? { status: 200, body: 'metadata-session' } : { status: 400 }
  }
  if (headers['x-aws-ec2-metadata-token'] !== 'metadata-session') return { status: 401 }
  if (path === METADATA) return { status: 200, body: 'reader' }
  return path === `${METADATA}reader` ? jsonAnswer(200, { Code: 'Success', ...inCapitals(GIVEN.instance) }) : { status: 404 }
}

function inCapitals({ accessKeyId, secretAccessKey, sessionToken }: (typeof GIVEN)['role']) {
  return { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: sessionToken, Expiration: END.toISOString() }
}

function keysOf(name: string) {
  return { accessKeyId: `ASIA${name.toUpperCase()}`, secretAccessKey: `${name}-secret`, sessionToken: `${name}-token` }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
