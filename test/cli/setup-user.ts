/** Users with an empty home folder, and servers with a file for each of four schemes, for the tests of `setup`. */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CredentialObject } from '../../src/auth/credential.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { digestServer } from '../servers/digest-server.ts'
import { basicGuard, bearerGuard, type Guard, keyGuard } from '../servers/guards.ts'
import { protectedFiles, startProtectedFiles } from '../servers/protected-files.ts'
import { startSigningServer } from '../servers/signing-server.ts'
import { createUrlSigner } from '../servers/url-signer.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, KEY_SCHEME } from './items.ts'
import { type Outcome, run, type Surroundings } from './run.ts'

export interface User {
  readonly home: string
  readonly secrets: string
  /** Runs a command at a terminal where these lines are typed. */
  at(argv: readonly string[], typed?: readonly string[], around?: Surroundings): Promise<Outcome>
  credentials(): Promise<readonly CredentialObject[]>
}

/** A user with an empty home folder. */
export async function newUser(...present: readonly object[]): Promise<User> {
  const home = await temporaryFolder()
  const config = join(home, 'stac-auth')
  const file = join(config, 'credentials.json')
  if (present.length > 0) {
    await mkdir(config, { recursive: true, mode: 0o700 })
    await put(config, 'credentials.json', { version: 1, credentials: present })
  }
  const env = { NO_COLOR: '1', XDG_CONFIG_HOME: home, XDG_CACHE_HOME: join(home, 'cache'), STAC_AUTH_CREDENTIALS: file }
  return {
    home,
    secrets: join(config, 'secrets'),
    at: (argv, typed = [], around = {}) =>
      run(argv, { isTTY: true, stdin: typed.map((line) => `${line}\n`).join(''), ...around, env: { ...env, ...around.env } }),
    credentials: async () => JSON.parse(await readFile(file, 'utf8')).credentials,
  }
}

export const CONTENT = `II*\0${'c'.repeat(4996)}`
export const SECRETS = { token: 'token-s3cr3t', key: 'key-s3cr3t', password: 'password-s3cr3t' }
export const SCHEMES = {
  token: { type: 'http', scheme: 'bearer' },
  key: KEY_SCHEME,
  basic: { type: 'http', scheme: 'basic' },
  digest: { type: 'http', scheme: 'digest' },
}

/** A server with one file for each of {@link SCHEMES}. */
export async function fourFiles(): Promise<AnsweringServer> {
  const digest = digestServer({ username: 'ada', password: SECRETS.password })
  const files = protectedFiles({
    '/token.tif': { content: CONTENT, guard: bearerGuard((token) => token === SECRETS.token) },
    '/key.tif': { content: CONTENT, guard: keyGuard('header', 'x-api-key', SECRETS.key) },
    '/basic.tif': { content: CONTENT, guard: basicGuard('ada', SECRETS.password) },
  })
  const server = await startAnswering((request) => {
    if (request.path !== '/digest.tif') return files(request)
    const answer = digest(request)
    return answer.status === 200 ? { ...answer, body: CONTENT } : answer
  })
  onTestFinished(() => server.close())
  return server
}

export async function itemOf(server: AnsweringServer, names: readonly string[], schemes: object = SCHEMES): Promise<string> {
  const assets = names.map((name) => [name, { href: `${server.origin}/${name}.tif`, 'auth:refs': [name] }])
  return put(await temporaryFolder(), `${names.join('-')}.json`, itemWith(Object.fromEntries(assets), { schemes }))
}

/** A service that signs URLs for those that the guard lets in, the server of their files, and an Item with a scheme `sign` for it. */
export async function signingService(guard: Guard, parameters: object, others: object = {}) {
  const signer = createUrlSigner({ key: 'k' })
  const files = await startProtectedFiles({ '/band.tif': { content: CONTENT, guard: signer.guard } })
  const api = await startSigningServer({ signer, objects: files.origin, get: guard, post: guard })
  onTestFinished(async () => void (await Promise.all([files.close(), api.close()])))
  const flow = { method: 'GET', authorizationApi: `${api.origin}/get/sign`, parameters, responseField: 'href' }
  const refs = Object.keys(others)
  const schemes = { sign: { type: 'signedUrl', ...(refs.length > 0 && { 'auth:refs': refs }), flows: { get: flow } }, ...others }
  const item = itemWith({ band: { href: `${files.origin}/band.tif`, 'auth:refs': ['sign'] } }, { schemes })
  return { api, files, item: await put(await temporaryFolder(), 'signed.json', item) }
}

export const ASKED = '[y]es / [N]o / [d]etails '
