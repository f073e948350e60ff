import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { awsKeys } from '../../src/node/credentials/aws-keys.ts'
import { canaryOf, leaks, shown } from '../harness/canary.ts'
import { failureOf } from '../harness/failure.ts'
import type { AnsweringServer } from '../servers/answering-server.ts'
import { END, GIVEN, startAwsServices } from '../servers/aws-services.ts'

const ROLE = 'arn:aws:iam::123456789012:role/reader'
const BASE = { accessKeyId: 'AKIABASE', secretAccessKey: 'base-secret' }
const WEB_IDENTITY = 'eyJ.web.identity'
const CONTAINER_TOKEN = 'Basic container-token'
const SESSION = 'session-access-token'
const expiration = END.getTime()

let folder: string
let services: AnsweringServer

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aws-services-'))
  services = await startAwsServices({
    keys: [BASE],
    roleArn: ROLE,
    externalId: 'field-7',
    webIdentity: WEB_IDENTITY,
    session: SESSION,
    containerToken: CONTAINER_TOKEN,
  })
  for (const name of Object.keys(process.env)) if (/^(?:AWS|CLOUD)_/.test(name)) vi.stubEnv(name, undefined)
  vi.stubEnv('HOME', folder)
  vi.stubEnv('AWS_ENDPOINT_URL_STS', services.origin)
  vi.stubEnv('AWS_ENDPOINT_URL_SSO', services.origin)
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', services.origin)
  await mkdir(join(folder, '.aws', 'sso', 'cache'), { recursive: true })
  await profiles(CONFIG)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await services.close()
  await rm(folder, { recursive: true })
})

const CONFIG = `
[profile base]
aws_access_key_id = ${BASE.accessKeyId}
aws_secret_access_key = ${BASE.secretAccessKey}
[profile role]
role_arn = ${ROLE}
source_profile = base
external_id = field-7
role_session_name = reader
region = eu-west-1
[profile itself]
role_arn = ${ROLE}
source_profile = itself
external_id = field-7
aws_access_key_id = ${BASE.accessKeyId}
aws_secret_access_key = ${BASE.secretAccessKey}
[profile one]
role_arn = ${ROLE}
source_profile = other
[profile other]
role_arn = ${ROLE}
source_profile = one
[profile lost]
role_arn = ${ROLE}
source_profile = nowhere
[profile bare-role]
role_arn = ${ROLE}
[profile stranger]
role_arn = ${ROLE}
source_profile = base
external_id = wrong
[profile contained]
role_arn = ${ROLE}
credential_source = EcsContainer
[profile from-variables]
role_arn = ${ROLE}
external_id = field-7
credential_source = Environment
[profile from-machine]
role_arn = ${ROLE}
credential_source = Ec2InstanceMetadata
[profile with-code]
role_arn = ${ROLE}
source_profile = base
mfa_serial = arn:aws:iam::123456789012:mfa/ada
[sso-session corp]
sso_region = eu-central-1
sso_start_url = https://corp.example/start
[profile person]
sso_session = corp
sso_account_id = 123456789012
sso_role_name = Reader
[profile person-before]
sso_start_url = https://corp.example/start
sso_region = eu-central-1
sso_account_id = 123456789012
sso_role_name = Reader
`

function profiles(text: string): Promise<void> {
  return writeFile(join(folder, '.aws', 'config'), text)
}

/** What a login with the tools of AWS leaves behind. */
function session(name: string, accessToken: string, expiresAt: Date): Promise<void> {
  const file = `${createHash('sha1').update(name).digest('hex')}.json`
  const content = { accessToken, expiresAt: expiresAt.toISOString(), startUrl: 'https://corp.example/start', region: 'eu-central-1' }
  return writeFile(join(folder, '.aws', 'sso', 'cache', file), JSON.stringify(content))
}

const keysOf = (profile: string) => awsKeys({ profile })()
const asked = () => services.exchanges.map(({ request: { method, path }, answer }) => `${method} ${path} ${answer.status}`)

describe('a role', () => {
  it('a role is assumed with the keys of the source profile', async () => {
    expect(await keysOf('role')).toEqual({ ...GIVEN.role, expiration, region: 'eu-west-1' })
    const form = new URLSearchParams(services.exchanges[0]?.request.body)
    expect([form.get('RoleSessionName'), form.get('ExternalId')]).toEqual(['reader', 'field-7'])
  })

  it('a role is assumed with keys of its own profile, or of the environment', async () => {
    expect(await keysOf('itself')).toEqual({ ...GIVEN.role, expiration })
    vi.stubEnv('AWS_ACCESS_KEY_ID', BASE.accessKeyId)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', BASE.secretAccessKey)
    expect(await keysOf('from-variables')).toEqual({ ...GIVEN.role, expiration })
  })

  it('a role is not given to others, and the service is not quoted', async () => {
    const error = await failureOf(keysOf('stranger'))
    expect(error).toMatchObject({
      code: 'CREDENTIAL_SOURCE',
      message: 'profile "stranger" (role_arn) returned no keys: AWS returned AccessDenied',
    })
    expect(leaks([canaryOf(BASE.secretAccessKey), canaryOf('user/ada')], { error: shown(error) })).toEqual([])
    await profiles(CONFIG.replaceAll(BASE.secretAccessKey, 'another-secret'))
    expect(await failureOf(keysOf('role'))).toMatchObject({ message: expect.stringContaining('AWS returned SignatureDoesNotMatch') })
  })

  it('a role is assumed with a token of an identity provider', async () => {
    const token = join(folder, 'token')
    await writeFile(token, WEB_IDENTITY)
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', token)
    vi.stubEnv('AWS_ROLE_ARN', ROLE)
    expect(await awsKeys({})()).toEqual({ ...GIVEN.web, expiration })
    await writeFile(token, 'wrong')
    expect(await failureOf(awsKeys({})())).toMatchObject({
      code: 'CREDENTIAL_SOURCE',
      message: expect.stringMatching(/^AWS_WEB_IDENTITY_TOKEN_FILE returned no keys: AWS returned InvalidIdentityToken/),
    })
    await writeFile(token, WEB_IDENTITY)
    await profiles(`[profile web]\nrole_arn=${ROLE}\nweb_identity_token_file=${token}\n`)
    expect(await keysOf('web')).toEqual({ ...GIVEN.web, expiration })
  })

  it.each([
    ['one', 'refer to each other in source_profile'],
    ['lost', 'its source_profile "nowhere" is not defined'],
    ['bare-role', 'has role_arn without source_profile'],
    ['contained', 'its credential_source EcsContainer is not available on this machine'],
    ['from-machine', 'its credential_source Ec2InstanceMetadata is not available on this machine'],
    ['with-code', 'can only be prompted for at a terminal'],
  ])('reports the missing setting: %s', async (name, message) => {
    expect(await failureOf(keysOf(name))).toMatchObject({ code: 'CREDENTIAL_SOURCE', message: expect.stringContaining(message) })
    expect(asked()).toEqual([])
  })

  it('reports when no one answers', async () => {
    await services.close()
    expect(await failureOf(keysOf('role'))).toMatchObject({ code: 'CREDENTIAL_SOURCE', retryable: true })
  })
})

describe('a session of the user’s', () => {
  it.each([
    ['person', 'corp'],
    ['person-before', 'https://corp.example/start'],
  ])('returns keys to the profile %s', async (profile, name) => {
    await session(name, SESSION, END)
    expect(await keysOf(profile)).toEqual({ ...GIVEN.person, expiration })
  })

  it.each([
    ['is not there', undefined],
    ['has ended', () => session('corp', SESSION, new Date(0))],
    ['is not accepted', () => session('corp', 'wrong', END)],
  ])('a session of the user’s that %s needs a login', async (_what, prepare) => {
    await prepare?.()
    const error = await failureOf(keysOf('person'))
    expect(error).toMatchObject({ code: 'LOGIN_REQUIRED', hint: 'aws sso login --profile person' })
    expect(leaks([canaryOf(SESSION)], { error: shown(error) })).toEqual([])
  })
})

describe('the machine', () => {
  const inContainer = (token: string) => {
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${services.origin}/container`)
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', token)
  }

  it('returns the keys of its container, with the region of the default profile', async () => {
    inContainer(CONTAINER_TOKEN)
    await profiles('[default]\nregion = eu-south-1\n')
    expect(await awsKeys({})()).toEqual({ ...GIVEN.container, expiration, region: 'eu-south-1' })
  })

  it('instance metadata is queried after profiles, and profiles after variables', async () => {
    inContainer(CONTAINER_TOKEN)
    await profiles('[default]\naws_access_key_id=D\naws_secret_access_key=d\n')
    expect(await awsKeys({})()).toEqual({ accessKeyId: 'D', secretAccessKey: 'd' })
    expect(asked()).toEqual([])
  })

  it('returns nothing for a wrong token', async () => {
    inContainer('Basic wrong')
    expect(await failureOf(awsKeys({})())).toMatchObject({
      code: 'CREDENTIAL_SOURCE',
      message: expect.stringMatching(/^the container returned no keys/),
    })
  })

  it('instance metadata supplies keys to credentials that allow it, and is not queried for others', async () => {
    expect(await failureOf(awsKeys({})())).toMatchObject({ message: 'no object store keys were found in the environment' })
    expect(asked()).toEqual([])
    expect(await awsKeys({ instanceMetadata: true })()).toMatchObject({ ...GIVEN.instance, expiration })
    expect(asked()[0]).toBe('PUT /latest/api/token 200')
  })

  it('instance metadata is not queried when the environment disables it', async () => {
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
    expect(await failureOf(awsKeys({ instanceMetadata: true })())).toMatchObject({ code: 'CREDENTIAL_SOURCE' })
    expect(asked()).toEqual([])
  })
})
