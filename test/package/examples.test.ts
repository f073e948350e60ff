import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { startRestFake } from '../servers/rest/rest-fake.ts'
import { startTokenServer } from '../servers/token-server.ts'
import { startTranslationFake } from '../servers/translation/translation-fake.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = (example: string, env: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(process.execPath, ['--import', 'tsx', `examples/${example}.ts`], { cwd: root, env: { ...process.env, ...env } })

it('the example of a scheme of one’s own runs against the built package', async () => {
  const { stdout } = await run('custom-scheme')
  expect(stdout).toBe("GET https://data.example/scene.tif { 'x-ticket': 'A-17' }\n")
})

describe('the example of a client of any service', () => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()))
  })

  const servers = async () => {
    const tokens = await startTokenServer({ client: { id: 'example', secret: 's3cret+/=', scopes: ['users'] } })
    const service = await startRestFake({ accepts: (token) => tokens.accepts(token, 'users') })
    open.push(tokens, service)
    const env = { SERVICE_URL: service.url, TOKEN_URL: tokens.tokenUrl, CLIENT_ID: 'example', CLIENT_SECRET: 's3cret+/=' }
    return { tokens, service, env }
  }

  it('makes, changes, lists and deletes a user with one token', async () => {
    const { tokens, service, env } = await servers()
    expect((await run('rest-client', env)).stdout).toBe('1 Ada Lovelace\n')
    expect(service.log.map(({ method, rawUrl, status }) => `${method} ${rawUrl} ${status}`)).toEqual([
      'POST /users 201',
      'PUT /users/1 200',
      'GET /users 200',
      'DELETE /users/1 204',
    ])
    expect(tokens.exchanges).toHaveLength(1)
    service.assertClean()
  })

  it('the example of a client of any service is refused with a wrong secret, and does not show it', async () => {
    const { service, env } = await servers()
    const { stderr } = await run('rest-client', { ...env, CLIENT_SECRET: 'wrong-8c1f2e' }).catch((error: { stderr: string }) => error)
    expect(stderr).toMatch(/OAUTH_ERROR|AUTH_REJECTED/)
    expect(stderr).not.toContain('8c1f2e')
    expect(service.requests()).toBe(0)
  })
})

it('the example of a catalog in another language runs against the built package', async () => {
  const fake = await startTranslationFake()
  try {
    const env = { ...process.env, STAC_AUTH_TRANSLATION_KEY: 'test-pro', STAC_AUTH_TRANSLATION_URL: fake.url }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', 'tsx', 'examples/translate-catalog.ts'], {
      cwd: root,
      env,
    })
    expect(JSON.parse(stdout).properties.language).toEqual({ code: 'de' })
    expect(stdout).toContain('"[DE] ')
    expect(stderr).toMatch(/^[1-9]\d* texts, [1-9]\d* characters\n$/)
    fake.assertClean()
  } finally {
    await fake.close()
  }
})
