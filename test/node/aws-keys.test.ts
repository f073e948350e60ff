import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { awsKeys, profileFiles } from '../../src/node/credentials/aws-keys.ts'

let folder: string
let file: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aws-keys-'))
  file = join(folder, 'config')
  await writeFile(
    file,
    `# profiles
[default]
aws_access_key_id = DEFAULT
aws_secret_access_key = default/secret+=   # for tests
region=eu-west-1

[profile eo]
AWS_ACCESS_KEY_ID=EO
aws_secret_access_key=eo-secret
aws_session_token = eo-token==
s3 =
  addressing_style = path
  region = nested

[ profile half ]
aws_access_key_id = HALF

[profile empty]
region = eu-west-2
[bare]
aws_access_key_id = BARE
aws_secret_access_key = bare-secret
; the end
`,
  )
})
afterEach(() => rm(folder, { recursive: true }))

const PAIR = { AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 'a' }
const CLOUD_PAIR = { CLOUD_ACCESS_KEY_ID: 'C', CLOUD_SECRET_ACCESS_KEY: 'c' }

async function keysFrom(environment: NodeJS.ProcessEnv, profile?: string) {
  const told: string[] = []
  // The files of whoever runs the tests are none of theirs.
  const files = { AWS_CONFIG_FILE: join(folder, 'none'), AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none') }
  const keys = await awsKeys({ ...(profile && { profile }) }, { ...files, ...environment })((message) => told.push(message))
  return { keys, told }
}

describe('variables', () => {
  it('variables of CLOUD_* go before AWS_*, each pair with its own token', async () => {
    expect((await keysFrom({ ...PAIR, ...CLOUD_PAIR, AWS_SESSION_TOKEN: 't' })).keys).toEqual({ accessKeyId: 'C', secretAccessKey: 'c' })
    expect((await keysFrom({ ...PAIR, AWS_SESSION_TOKEN: 't', CLOUD_SESSION_TOKEN: 'u' })).keys).toEqual({
      accessKeyId: 'A',
      secretAccessKey: 'a',
      sessionToken: 't',
    })
  })

  it('an incomplete pair of variables is skipped, with a warning', async () => {
    const half = await keysFrom({ ...PAIR, CLOUD_ACCESS_KEY_ID: 'C' })
    expect(half).toEqual({
      keys: { accessKeyId: 'A', secretAccessKey: 'a' },
      told: ['CLOUD_ACCESS_KEY_ID is set without CLOUD_SECRET_ACCESS_KEY and is ignored'],
    })
    const mixed = { CLOUD_ACCESS_KEY_ID: 'C', AWS_SECRET_ACCESS_KEY: 'a', CLOUD_CONFIG_FILE: file }
    expect((await keysFrom(mixed)).keys).toMatchObject({ accessKeyId: 'DEFAULT' })
  })

  it('variables go before profiles, but not before the profile of the credential', async () => {
    const environment = { ...PAIR, AWS_PROFILE: 'eo', AWS_CONFIG_FILE: file, AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none') }
    expect((await keysFrom(environment)).keys).toMatchObject({ accessKeyId: 'A' })
    expect((await keysFrom(environment, 'bare')).keys).toMatchObject({ accessKeyId: 'BARE' })
  })

  it('variables say which place is meant', () => {
    const source = awsKeys({}, { AWS_REGION: 'eu-west-3', AWS_DEFAULT_REGION: 'x', AWS_ENDPOINT_URL_S3: 'https://minio.example/s3/' })
    expect([source.region, source.endpoint]).toEqual(['eu-west-3', 'https://minio.example/s3'])
    expect(awsKeys({}, { AWS_DEFAULT_REGION: 'x' }).region).toBe('x')
    expect(awsKeys({}, { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9000' }).endpoint).toBe('http://127.0.0.1:9000')
    for (const endpoint of ['http://minio.example', 'minio.example:9000', 'https://u:p@minio.example', 'https://minio.example/?a=b']) {
      expect(() => awsKeys({}, { AWS_ENDPOINT_URL_S3: endpoint })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    }
  })

  it('variables that forbid signing are overruled, with a warning', async () => {
    for (const wish of ['YES', 'true', '1']) {
      expect((await keysFrom({ ...PAIR, CLOUD_NO_SIGN_REQUEST: wish })).told).toEqual([
        'CLOUD_NO_SIGN_REQUEST is ignored: the document requires signed requests',
      ])
    }
    expect((await keysFrom({ ...PAIR, AWS_NO_SIGN_REQUEST: 'NO' })).told).toEqual([])
  })
})

describe('profiles', () => {
  it('profiles are named by CLOUD_PROFILE, then AWS_PROFILE, then default', async () => {
    const eo = { accessKeyId: 'EO', secretAccessKey: 'eo-secret', sessionToken: 'eo-token==' }
    expect((await keysFrom({ CLOUD_CONFIG_FILE: file, CLOUD_PROFILE: 'eo', AWS_PROFILE: 'bare' })).keys).toEqual(eo)
    expect((await keysFrom({ CLOUD_CONFIG_FILE: file, AWS_PROFILE: 'bare' })).keys).toEqual({
      accessKeyId: 'BARE',
      secretAccessKey: 'bare-secret',
    })
    expect((await keysFrom({ CLOUD_CONFIG_FILE: file })).keys).toEqual({
      accessKeyId: 'DEFAULT',
      secretAccessKey: 'default/secret+=',
      region: 'eu-west-1',
    })
  })

  it('profiles of AWS_PROFILE are read from both files, that of CLOUD_PROFILE from CLOUD_CONFIG_FILE only', async () => {
    const own = join(folder, 'own')
    await writeFile(own, '[mine]\naws_access_key_id=MINE\naws_secret_access_key=mine\n')
    const environment = { CLOUD_CONFIG_FILE: own, AWS_CONFIG_FILE: file }
    const mine = { accessKeyId: 'MINE', secretAccessKey: 'mine' }
    expect((await keysFrom({ ...environment, CLOUD_PROFILE: 'mine' })).keys).toEqual(mine)
    expect((await keysFrom({ ...environment, AWS_PROFILE: 'mine' })).keys).toEqual(mine)
    expect((await keysFrom({ ...environment, AWS_PROFILE: 'bare' })).keys).toMatchObject({ accessKeyId: 'BARE' })
    expect((await keysFrom({ ...environment, CLOUD_PROFILE: 'mine' }, 'bare')).keys).toMatchObject({ accessKeyId: 'BARE' })
    await expect(keysFrom({ ...environment, CLOUD_PROFILE: 'bare' })).rejects.toMatchObject({
      message: `the profile "bare" does not exist in ${own}`,
    })
  })

  it('profiles take each setting from the credentials file before the config file', async () => {
    const credentials = join(folder, 'credentials')
    await writeFile(credentials, '[default]\naws_access_key_id=FIRST\naws_secret_access_key=first\n')
    const environment = { AWS_SHARED_CREDENTIALS_FILE: credentials, AWS_CONFIG_FILE: file }
    expect((await keysFrom(environment)).keys).toEqual({ accessKeyId: 'FIRST', secretAccessKey: 'first', region: 'eu-west-1' })
  })

  it('profiles are in the files of the home folder by default', () => {
    const usual = { credentials: join(homedir(), '.aws', 'credentials'), config: join(homedir(), '.aws', 'config') }
    expect(profileFiles({})).toEqual([usual])
    expect(profileFiles({ CLOUD_CONFIG_FILE: file })).toEqual([{ credentials: file, config: file }, usual])
  })

  it.each([
    ['half', 'profile "half" is incomplete: it has no aws_secret_access_key'],
    ['empty', 'profile "empty" is incomplete: it has no aws_access_key_id'],
    ['none', 'the profile "none" does not exist in '],
  ])('a profile that cannot be used is reported with the reason: %s', async (name, message) => {
    await expect(keysFrom({ CLOUD_CONFIG_FILE: file }, name)).rejects.toMatchObject({
      code: 'CREDENTIAL_SOURCE',
      message: expect.stringContaining(message),
    })
  })

  it('profiles that cannot be read are reported', async () => {
    await expect(keysFrom({ CLOUD_CONFIG_FILE: folder })).rejects.toMatchObject({ message: `the file ${folder} cannot be read: EISDIR` })
  })
})

it('reports what to set when there is nothing', async () => {
  await writeFile(file, '[default]\nregion = eu-west-1\n')
  for (const none of [join(folder, 'none'), file]) {
    await expect(keysFrom({ AWS_CONFIG_FILE: none })).rejects.toMatchObject({
      code: 'CREDENTIAL_SOURCE',
      hint: expect.stringContaining('AWS_ACCESS_KEY_ID'),
    })
  }
})
