/** `setup` with a document that its server does not show without a credential. */
import { readdir } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Answer, type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { startAuthorizationServer } from '../servers/authorization-server.ts'
import { basicGuard, bearerGuard, type Guard, keyGuard } from '../servers/guards.ts'
import { browse } from '../servers/person.ts'
import { itemWith } from './items.ts'
import { newUser, SECRETS } from './setup-user.ts'

const ASKED = /Which do you have for/

/** A server with an Item at `/item.json` whose asset has the same scheme and the same guard. */
async function catalog(scheme: object, guard: Guard | ((request: Parameters<Guard>[0]) => Promise<Answer | undefined>)) {
  const server: AnsweringServer = await startAnswering(async (request) => {
    const refusal = await guard(request)
    if (refusal && refusal.status !== 200) return refusal
    const assets = { data: { href: `${server.origin}/data.tif`, 'auth:refs': ['own'] } }
    const body = request.path === '/item.json' ? JSON.stringify(itemWith(assets, { schemes: { own: scheme } })) : 'II*\0content'
    return { status: 200, headers: { 'content-type': 'application/geo+json' }, body }
  })
  onTestFinished(() => server.close())
  return { server, item: `${server.origin}/item.json` }
}

const isSent = ({ exchanges }: AnsweringServer) => exchanges.filter(({ request }) => request.headers.authorization !== undefined)

describe('setup of a document that needs a credential itself', () => {
  it('asks for user name and password where the server offers Basic, and shows the host', async () => {
    const { server, item } = await catalog({ type: 'http', scheme: 'basic' }, basicGuard('ada', SECRETS.password))
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', item], ['y', 'ada', SECRETS.password])
    expect(stderr).toContain(`${item} cannot be read yet: ${server.origin} requires a credential (Basic)\n`)
    expect(stderr).toContain(
      `${item} asks for "127.0.0.1" (HTTP, basic)\n  secret goes to   ${server.origin}/ (1 document)\nCreate this credential?`,
    )
    expect(stderr).not.toMatch(ASKED)
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "127.0.0.1" for "own" works')])
    expect(stdout + stderr).not.toContain(SECRETS.password)
    expect(await user.credentials()).toMatchObject([{ type: 'http', scheme: 'basic', username: 'ada', sendTo: [`${server.origin}/`] }])
    expect(await user.at(['fetch', item, '--asset', 'data', '-o', '-'])).toMatchObject({ code: 0, stdout: 'II*\0content' })
  })

  it('asks whether it is a token or a login where the server offers Bearer', async () => {
    const { item } = await catalog(
      { type: 'http', scheme: 'bearer' },
      bearerGuard((token) => token === SECRETS.token),
    )
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', item], ['what?', 't', 'y', SECRETS.token])
    expect(stderr).toMatch(/Which do you have for \S+\? {2}\[t\]oken \/ \[o\]penID Connect login \/ \[S\]kip /)
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "127.0.0.1" for "own" works')])
  })

  it('asks for the name of a key where the server does not say what it wants', async () => {
    const { item } = await catalog({ type: 'apiKey', in: 'query', name: 'api_key' }, keyGuard('query', 'api_key', SECRETS.key))
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', item], ['k', '?api_key', 'y', SECRETS.key])
    expect(stderr).toContain('requires a credential and does not say which\n')
    expect([code, stdout]).toEqual([0, expect.stringContaining('works')])
    expect(await user.credentials()).toMatchObject([{ type: 'apiKey', in: 'query', name: 'api_key' }])
  })

  it('logs in with the provider that the user names', async () => {
    const provider = await startAuthorizationServer()
    onTestFinished(() => provider.close())
    const scheme = { type: 'openIdConnect', openIdConnectUrl: `${provider.issuer}/.well-known/openid-configuration` }
    const { item } = await catalog(scheme, async (request) => {
      const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1]
      const isKnown = token !== undefined && (await provider.accountOf(token)) !== undefined
      return isKnown ? undefined : { status: 401, headers: { 'www-authenticate': 'Bearer realm="files"' } }
    })
    const user = await newUser()
    let shown = ''
    const onError = (text: string) => {
      const before = shown
      shown += text
      const pattern = /open this URL in a browser on this machine:\n {2}(\S+)\n/
      const address = pattern.test(before) ? undefined : pattern.exec(shown)?.[1]
      if (address !== undefined) void browse(address)
    }
    const typed = ['o', 'not a URL', provider.issuer, 'read', 'y', 'native', 'n']
    const { code, stdout } = await user.at(['setup', item, '--browser'], typed, { onError })
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "127.0.0.1" for "own" works')])
    expect(await user.at(['fetch', item, '--asset', 'data', '-o', '-'])).toMatchObject({ code: 0, stdout: 'II*\0content' })
  })

  it('offers to type a refused secret again, and then reads the document', async () => {
    const { item } = await catalog(
      { type: 'http', scheme: 'bearer' },
      bearerGuard((token) => token === SECRETS.token),
    )
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', item], ['t', 'y', 'mistyped', 'y', SECRETS.token])
    expect(stderr).toMatch(/refused "127\.0\.0\.1" with 401 \(invalid_token\)\n.*\nType the secret of "127\.0\.0\.1" again\?/)
    expect([code, stdout]).toEqual([0, expect.stringContaining('works')])
  })

  it('asks also for the document that a public catalog of the same origin links to', async () => {
    const guard = bearerGuard((token) => token === SECRETS.token)
    const { server } = await catalog({ type: 'http', scheme: 'bearer' }, (request) => {
      if (request.path !== '/catalog.json') return guard(request)
      // A guard answers in place of the file.
      return { status: 203, body: JSON.stringify({ type: 'Catalog', id: 'c', links: [{ rel: 'item', href: './item.json' }] }) }
    })
    const user = await newUser()
    const { code, stdout } = await user.at(['setup', `${server.origin}/catalog.json`], ['t', 'y', SECRETS.token])
    expect([code, stdout]).toEqual([0, expect.stringContaining('works')])
  })
})

describe('setup creates no credential for a document', () => {
  const bearer = { type: 'http', scheme: 'bearer' }

  it.each([
    ['is declined', ['t', 'n']],
    ['is skipped', ['']],
  ])('when the question %s, and says how to be asked again', async (_what, typed) => {
    const { server, item } = await catalog(
      bearer,
      bearerGuard(() => false),
    )
    const user = await newUser()
    const { code, stderr } = await user.at(['setup', item], typed)
    expect([code, stderr]).toEqual([3, expect.stringContaining(`\n  stac-auth setup ${item}\n  or, if you trust ${server.origin}, `)])
    expect(await readdir(user.home).catch(() => [])).not.toContain('stac-auth')
    expect(isSent(server)).toEqual([])
  })

  it('without a terminal, and with --json and --dry-run', async () => {
    const { server, item } = await catalog(
      bearer,
      bearerGuard(() => false),
    )
    const user = await newUser()
    for (const [argv, isTTY] of [
      [['setup', item], false],
      [['setup', item, '--dry-run'], true],
      [['setup', item, '--json'], true],
    ] as const) {
      const { code, stderr } = await user.at(argv, ['t', 'y', SECRETS.token], { isTTY })
      expect([code, stderr]).toEqual([3, expect.stringContaining('AUTH_REJECTED')])
      expect(stderr).not.toMatch(ASKED)
    }
    expect(isSent(server)).toEqual([])
  })

  it('after a redirect to another origin, whose name it gives', async () => {
    const other = await catalog(
      bearer,
      bearerGuard(() => false),
    )
    const { item } = await catalog(bearer, () => ({ status: 302, headers: { location: other.item } }))
    const user = await newUser()
    const { code, stderr } = await user.at(['setup', item], ['t', 'y', SECRETS.token], {})
    expect(code).not.toBe(0)
    expect(stderr).not.toMatch(ASKED)
    expect(isSent(other.server)).toEqual([])
  })

  it('with endpoints or text of the challenge', async () => {
    const challenge = `Bearer realm="evil realm", authorization_uri="https://evil.example/", resource_metadata="https://evil.example/"`
    const { item } = await catalog(bearer, () => ({ status: 401, headers: { 'www-authenticate': challenge } }))
    const user = await newUser()
    const { stderr } = await user.at(['setup', item], ['o', 'https://id.example/', '', 'n'])
    expect(stderr).toContain('  secret goes to   https://id.example/.well-known/openid-configuration')
    expect(stderr).not.toMatch(/evil/)
  })
})

describe('errors for want of a credential', () => {
  it('name the command that asks for it', async () => {
    const { item } = await catalog({ type: 'http', scheme: 'bearer' }, () => undefined)
    const user = await newUser(UNRELATED)
    for (const argv of [
      ['fetch', item, '--asset', 'data'],
      ['authorize', item, '--asset', 'data'],
    ]) {
      const { code, stderr } = await user.at(argv, [], { isTTY: false })
      expect([code, stderr]).toEqual([3, expect.stringContaining(`\n  stac-auth setup ${item}\n  or, if you trust `)])
    }
    const alone = await user.at(['run', item, '--', process.execPath, '-e', READ, '{data}'], [], { isTTY: false })
    expect([alone.code, alone.stderr]).toEqual([1, expect.stringContaining(`\n  stac-auth setup ${item}\n  or, if you trust `)])
  })

  it('name no URL with a query, which may contain keys', async () => {
    const { item } = await catalog({ type: 'http', scheme: 'bearer' }, () => undefined)
    const user = await newUser(UNRELATED)
    const { stderr } = await user.at(['fetch', `${item}?key=${SECRETS.key}`, '--asset', 'data'], [], { isTTY: false })
    expect(stderr).toContain('\n  stac-auth setup DOC\n')
    expect(stderr).not.toContain(SECRETS.key)
  })

  it('name no document for several, nor for standard input', async () => {
    const { item } = await catalog(
      { type: 'http', scheme: 'bearer' },
      bearerGuard(() => false),
    )
    const user = await newUser(UNRELATED)
    expect((await user.at(['setup', item, item], [], { isTTY: false })).stderr).toContain('\n  stac-auth setup DOC\n')
  })
})

/** Ends in 1 unless a URL can be read. */
const READ = 'fetch(process.argv[1]).then(({ ok }) => { process.exitCode = ok ? 0 : 1 })'

const UNRELATED = { id: 'far', type: 'apiKey', in: 'header', name: 'x-far', value: { env: 'FAR' }, sendTo: ['https://far.example/'] }
