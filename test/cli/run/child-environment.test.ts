import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { childEnvironment, providerVariables, secretVariables } from '../../../src/cli/run/child-process.ts'
import { providers } from '../../../src/providers/registry.ts'
import { isObject } from '../../../src/stac/document.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const without = (file: unknown, env: Record<string, string>) => childEnvironment(env, { added: {}, sources: secretVariables(file) })

const SECRET = '#/definitions/secret'

/** The members of a schema that may be a secret, as paths without the keywords between them, and the references that they have. */
function secretMembers(schema: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => secretMembers(one, path))
  if (!isObject(schema)) return []
  if (schema.$ref === SECRET) return [path]
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'definitions') return []
    if (keyword === 'properties' && isObject(value))
      return Object.entries(value).flatMap(([name, one]) => secretMembers(one, [...path, name]))
    return secretMembers(value, keyword === 'additionalProperties' ? [...path, 'any'] : path)
  })
}

/** Every variable that the sources read as `env.NAME` or `env['NAME']`. */
async function variablesRead(): Promise<readonly string[]> {
  const folder = join(root, 'src')
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  const code = texts.map((text) => text.replace(/^\s*(?:\/?\*|\/\/).*$/gm, ''))
  const found = code.flatMap((text) =>
    [...text.matchAll(/\b(?:env|environment)(?:\.|\[['"])([A-Z][A-Z\d_]+)/g)].map(([, name = '']) => name),
  )
  return [...new Set(found)].sort()
}

/** What our sources read, and programs need. */
const HARMLESS =
  /^(?:HOME|HOMEDRIVE|HOMEPATH|USERPROFILE|APPDATA|LOCALAPPDATA|XDG_\w+|LANG|LC_\w+|TERM|NETRC|NO_COLOR|FORCE_COLOR|NO_PROXY|SSH_(?:CONNECTION|TTY)|DISPLAY|WAYLAND_DISPLAY|S|NODE_\w+|GIT_CONFIG_COUNT|STAC_AUTH_(?:CREDENTIALS|DEBUG)|AWS_(?:REGION|DEFAULT_REGION|ENDPOINT_URL|ENDPOINT_URL_S3|EC2_METADATA_DISABLED))$/

describe('the environment of the program', () => {
  it('has no variable that any member of the credential file may name, as its schema says', async () => {
    const schema = JSON.parse(await readFile(join(root, 'schemas/credentials.json'), 'utf8'))
    const members = [...secretMembers(schema), ...secretMembers(schema.definitions.entry, ['credentials', '0'])]
    expect(members.map((path) => path.join('.'))).toEqual(expect.arrayContaining(['tokens.password', 'tokens.key', 'credentials.0.value']))
    for (const [index, path] of members.entries()) {
      const file = path.reduceRight<unknown>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), { env: `V${index}` })
      expect(without(file, { [`V${index}`]: 'secret', PATH: '/bin' }), path.join('.')).toEqual({ PATH: '/bin' })
    }
    expect(Object.keys(schema.definitions.secret.properties)).toEqual(['env', 'file', 'command', 'keyring', 'netrc', 'prompt'])
  })

  it('has no variable that our sources read, unless it is known as harmless', async () => {
    const names = await variablesRead()
    expect(names).toContain('STAC_AUTH_QUEUE')
    const passed = Object.keys(without({}, Object.fromEntries(names.map((name) => [name, 'value']))))
    expect(passed.filter((name) => !HARMLESS.test(name))).toEqual([])
  })

  it('has no keys of object stores, containers and services', () => {
    const secrets = [
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'AWS_CONTAINER_AUTHORIZATION_TOKEN',
      'CLOUD_SECRET_ACCESS_KEY',
    ]
    const others = ['EARTHDATA_TOKEN', 'STAC_AUTH_TOKEN', 'STAC_AUTH_TRANSLATION_KEY', 'STAC_AUTH_TIME_TOKEN', 'STAC_AUTH_QUEUE']
    const env = Object.fromEntries([...secrets, ...others].map((name) => [name, 'secret']))
    expect(without({}, { ...env, AWS_REGION: 'r', STAC_AUTH_CREDENTIALS: '/c' })).toEqual({ AWS_REGION: 'r', STAC_AUTH_CREDENTIALS: '/c' })
  })

  it('has the place of a netrc file unless the credential file reads it', () => {
    const env = { NETRC: '/etc/netrc', PATH: '/bin' }
    expect(without({ credentials: [{ password: { env: 'OTHER' } }] }, env)).toEqual(env)
    expect(without({ credentials: [{ tokenParameters: { password: { netrc: 'urs.example' } } }] }, env)).toEqual({ PATH: '/bin' })
  })

  it('has what a source does not name', () => {
    const file = { credentials: [{ value: { command: ['env', 'COMMAND'] }, parameters: { text: 'env' } }] }
    expect(without(file, { COMMAND: 'c', env: 'e', PATH: '/bin' })).toEqual({ COMMAND: 'c', env: 'e', PATH: '/bin' })
  })

  it('has its proxies without user and password', () => {
    const exempt = { no_proxy: '127.0.0.1,localhost,::1', NO_PROXY: '127.0.0.1,localhost,::1' }
    const env = {
      http_proxy: 'http://ada:p@ss:w/rd@proxy.example:3128',
      HTTPS_PROXY: 'http://ada:secret@proxy.example/',
      all_proxy: 'socks5h://ada@proxy.example:1080',
      GDAL_HTTP_PROXY: 'ada:secret@proxy.example:3128',
      GDAL_HTTP_PROXYUSERPWD: 'ada:secret',
      npm_config_https_proxy: 'http://proxy.example',
    }
    expect(without({}, env)).toEqual({
      http_proxy: 'http://proxy.example:3128',
      HTTPS_PROXY: 'http://proxy.example/',
      all_proxy: 'socks5h://proxy.example:1080',
      GDAL_HTTP_PROXY: 'proxy.example:3128',
      npm_config_https_proxy: 'http://proxy.example',
      ...exempt,
    })
    expect(childEnvironment(env, { added: {}, sources: undefined })).toEqual({ ...env, ...exempt })
  })

  it('has no secret of a known provider, whatever the credential file names', () => {
    const secrets = providers.flatMap(({ ways }) =>
      ways.flatMap(({ holes }) => Object.values(holes).filter(({ kind }) => kind === 'secret')),
    )
    const names = secrets.flatMap((hole) => hole.env ?? [])
    expect(names).toEqual(expect.arrayContaining(['PL_API_KEY', 'CDSE_PASSWORD']))
    const env = Object.fromEntries([...names, 'CDSE_USERNAME'].map((name) => [name, 'x']))
    expect(childEnvironment(env, { added: {}, sources: providerVariables(providers) })).toEqual({ CDSE_USERNAME: 'x' })
  })

  it('keeps a proxy away from the gateway', () => {
    const exempt = { no_proxy: 'a.example,127.0.0.1,localhost,::1', NO_PROXY: 'a.example,127.0.0.1,localhost,::1' }
    expect(without([], { http_proxy: 'http://proxy', NO_PROXY: 'a.example, 127.0.0.1' })).toEqual({ http_proxy: 'http://proxy', ...exempt })
    expect(without([], { NO_PROXY: 'a.example' })).toEqual({ NO_PROXY: 'a.example' })
  })

  it('has the variables of the gateway in the place of older ones', () => {
    const env = { STAC_AUTH_GATEWAY: 'old', A: undefined }
    expect(childEnvironment(env, { added: { STAC_AUTH_GATEWAY: 'new' }, sources: [] })).toEqual({ STAC_AUTH_GATEWAY: 'new' })
  })
})
