/** From an empty account to a protected file: `setup` at a terminal, against servers that verify. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { SECRETS as SERVICE_SECRETS, startAuthorizationServer } from '../servers/authorization-server.ts'
import { basicGuard, keyGuard } from '../servers/guards.ts'
import { browse } from '../servers/person.ts'
import { startS3Server } from '../servers/s3-server.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { ASKED, CONTENT, fourFiles, itemOf, newUser, SCHEMES, SECRETS, signingService } from './setup-user.ts'

const folder = await temporaryFolder()

describe('setup from an empty account', () => {
  it('asks for bearer, apiKey, basic and digest, tests each, and then the files can be fetched', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['token', 'key', 'basic', 'digest'])
    const typed = ['y', SECRETS.token, 'y', SECRETS.key, 'y', 'ada', SECRETS.password, 'y', 'ada', SECRETS.password]
    const { code, stdout, stderr } = await user.at(['setup', item], typed)
    expect([code, stdout]).toEqual([
      0,
      [
        'one small request for each scheme:',
        ...['token', 'key', 'basic'].map((name) => `  + "${name}" works: ${server.origin}/${name}.tif answered 206, 5.0 kB`),
        `  + "digest" works: ${server.origin}/digest.tif answered 200, 5.0 kB`,
        'next:',
        `  stac-auth fetch ${item} --asset token -o token.tif`,
        `  stac-auth run ${item} -- gdalinfo {token}`,
        `  stac-auth download ${item} -d data\n`,
      ].join('\n'),
    ])
    expect(stderr.split('\n').slice(0, 5)).toEqual([
      `${item} uses 4 schemes`,
      '  x "token" (HTTP, bearer)              no credential, for token',
      '  x "key" (API key, header x-api-key)   no credential, for key',
      '  x "basic" (HTTP, basic)               no credential, for basic',
      '  x "digest" (HTTP, digest)             no credential, for digest',
    ])
    for (const secret of Object.values(SECRETS)) expect(stdout + stderr).not.toContain(secret)
    expect(await readFile(join(user.home, 'stac-auth/credentials.json'), 'utf8')).not.toContain('s3cr3t')
    for (const name of ['token', 'key', 'basic', 'digest'])
      expect(await user.at(['fetch', item, '--asset', name, '-o', '-'])).toMatchObject({ code: 0, stdout: CONTENT })
  })

  it('keeps typed secrets in files that only the user can read', async () => {
    const server = await fourFiles()
    const user = await newUser()
    await user.at(['setup', await itemOf(server, ['token'])], ['y', SECRETS.token])
    const path = join(user.secrets, 'token.token')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(user.secrets)).mode & 0o777).toBe(0o700)
    expect(await readFile(path, 'utf8')).toBe(`${SECRETS.token}\n`)
    expect(await user.credentials()).toEqual([
      { id: 'token', type: 'http', scheme: 'bearer', token: { file: path }, sendTo: [`${server.origin}/`] },
    ])
  })

  it('takes a variable, a file and a command instead of the secret', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const file = await put(folder, 'key.txt', `${SECRETS.key}\n`)
    const typed = [
      ...['y', '', 'v', 'not a name', 'MY_TOKEN'],
      ...['y', '', 'f', join(folder, 'missing.txt'), '', 'f', file],
      ...['y', 'ada', '', 'c', `'open`, '', 'c', `${process.execPath} -e 'process.stdout.write("${SECRETS.password}")'`],
    ]
    const { stderr, stdout } = await user.at(['setup', await itemOf(server, ['token', 'key', 'basic'])], typed)
    expect(stderr).toContain('MY_TOKEN is not set here: set it before you use the credential\n')
    expect(stderr).toContain('missing.txt does not exist\n')
    expect(stderr).toContain('quotes must be closed')
    const [token, key, basic] = await user.credentials()
    expect([token?.token, key?.value]).toEqual([{ env: 'MY_TOKEN' }, { file }])
    expect(basic?.password).toEqual({ command: [process.execPath, '-e', `process.stdout.write("${SECRETS.password}")`] })
    expect(stdout).toMatch(/x "token" fails: CREDENTIAL_SOURCE.*MY_TOKEN is not set\n/)
    expect(stdout).toContain('+ "key" works')
    expect(stdout).toContain('+ "basic" works')
    await expect(readdir(user.secrets)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('asks for S3 keys and shows the endpoint that the document states', async () => {
    const pair = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'very-s3cr3t' }
    const store = await startS3Server({ objects: { 'eo/band.tif': CONTENT }, keys: [pair] })
    onTestFinished(() => store.close())
    const user = await newUser()
    const storage = { store: { type: 'custom-s3', platform: store.url, region: 'us-east-1' } }
    const document = itemWith(
      { band: { href: 's3://eo/band.tif', 'auth:refs': ['s3'], 'storage:refs': ['store'] } },
      { schemes: { s3: { type: 's3' } } },
    ) as { stac_extensions: string[]; properties: object }
    document.stac_extensions.push('https://stac-extensions.github.io/storage/v2.0.0/schema.json')
    Object.assign(document.properties, { 'storage:schemes': storage })
    const item = await put(folder, 's3.json', document)
    const { code, stdout, stderr } = await user.at(['setup', item], ['y', 'AKIA-shown', 't', pair.accessKeyId, pair.secretAccessKey, ''])
    expect(stderr).toContain(`  endpoint            ${store.url}/      on this machine\n  signature goes to   s3://eo/ (1 asset)\n`)
    expect(stderr).toContain('  answer t, p or u; a key is never typed where it is shown\n  Keys: [T]ype')
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "s3" works')])
    expect(stdout + stderr).not.toContain(pair.secretAccessKey)
    expect(await readdir(user.secrets)).toEqual(['s3.accessKeyId', 's3.secretAccessKey'])
    expect(await user.at(['fetch', item, '--asset', 'band', '-o', '-'])).toMatchObject({ code: 0, stdout: CONTENT })
  })

  it('logs in with OpenID Connect, and asks for nothing when it runs again', async () => {
    const server = await startAuthorizationServer()
    onTestFinished(() => server.close())
    const schemes = { eo: { type: 'openIdConnect', openIdConnectUrl: `${server.issuer}/.well-known/openid-configuration` } }
    const item = await put(folder, 'oidc.json', itemWith({ data: { href: server.resource, 'auth:refs': ['eo'] } }, { schemes }))
    const user = await newUser()
    const typed = ['read offline_access', 'y', 'native', 'n']
    const first = await user.at(['setup', item, '--browser'], typed, { onError: person() })
    expect(first.stderr).toMatch(/"eo" is logged in until 20/)
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining(`+ "eo" works: ${server.resource} answered 200`)])
    expect(await user.at(['fetch', item, '--asset', 'data', '-o', '-'])).toMatchObject({ code: 0, stdout: 'file of alice' })
    const again = await user.at(['setup', item])
    expect([again.code, again.stderr]).toEqual([0, `${item} uses 1 scheme\n  + "eo" (OpenID Connect)   credential "eo", for data\n`])
    await user.at(['logout', 'eo'])
    const third = await user.at(['setup', item, '--browser'], [], { onError: person() })
    expect(third.stderr).toContain('credential "eo", not logged in, for data\n')
    expect([third.code, third.stdout]).toEqual([0, expect.stringContaining('+ "eo" works')])
  })

  it('keeps the port of the redirect URI, which some providers compare', async () => {
    const server = await startAuthorizationServer()
    const unused = await startAnswering(() => ({ status: 404 }))
    const port = Number(new URL(unused.origin).port)
    await unused.close()
    onTestFinished(() => server.close())
    const schemes = { eo: { type: 'openIdConnect', openIdConnectUrl: `${server.issuer}/.well-known/openid-configuration` } }
    const item = await put(folder, 'port.json', itemWith({ data: { href: server.resource, 'auth:refs': ['eo'] } }, { schemes }))
    const user = await newUser()
    const typed = ['read', 'y', 'native', 'n']
    const { code } = await user.at(['setup', item, '--browser', '--port', String(port)], typed, { onError: person() })
    expect(code).toBe(0)
    expect(await user.credentials()).toMatchObject([{ id: 'eo', redirectPort: port }])
  })

  it('logs in by endpoints that the document writes out, and finds their issuer', async () => {
    const server = await startAuthorizationServer()
    onTestFinished(() => server.close())
    const flow = { authorizationUrl: `${server.issuer}/auth`, tokenUrl: `${server.issuer}/token`, scopes: { read: 'files' } }
    const schemes = { eo: { type: 'oauth2', flows: { authorizationCode: flow } } }
    const item = await put(folder, 'oauth.json', itemWith({ data: { href: server.resource, 'auth:refs': ['eo'] } }, { schemes }))
    const user = await newUser()
    const typed = ['openid read', 'y', 'native', 'n']
    const { code, stdout, stderr } = await user.at(['setup', item, '--browser'], typed, { onError: person() })
    expect(stderr).toContain(
      `  you log in at    ${server.issuer}/auth      on this machine\n  secret goes to   ${server.issuer}/token      on this machine\n`,
    )
    expect(stderr).toContain(`the issuer of "eo" is ${server.issuer}\n`)
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "eo" works')])
  })

  it('needs no login for a client that has a secret', async () => {
    const server = await startAuthorizationServer()
    onTestFinished(() => server.close())
    const schemes = { eo: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${server.issuer}/token`, scopes: {} } } } }
    const item = await put(folder, 'service.json', itemWith({ data: { href: server.resource, 'auth:refs': ['eo'] } }, { schemes }))
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', item, '--scope', 'read'], ['y', 'service', SERVICE_SECRETS.service])
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "eo" works')])
    expect(stdout + stderr).not.toContain(SERVICE_SECRETS.service)
    expect(await user.credentials()).toMatchObject([
      { clientId: 'service', scopes: ['read'], clientSecret: { file: join(user.secrets, 'eo.clientSecret') } },
    ])
  })

  it('asks for the scheme that authorizes a signing service first', async () => {
    const parameters = { href: { in: 'query', required: true, schema: { type: 'string' } } }
    const { api, files, item } = await signingService(basicGuard('ada', SECRETS.password), parameters, { account: SCHEMES.basic })
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', item], ['y', 'ada', SECRETS.password, '', 'y'])
    expect(stderr).toContain('x "account" (HTTP, basic)    no credential, for the requests of "sign"\n')
    expect(stderr).toContain(`asks for "account" (HTTP, basic)\n  secret goes to   ${api.origin}/ (for "sign")      on this machine\n`)
    expect(stderr).toContain(`  Allowed hosts of signed URLs [${files.origin}/]: `)
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "sign" works')])
    expect(await user.credentials()).toMatchObject([
      { id: 'account', sendTo: [`${api.origin}/`] },
      { id: 'sign', with: 'account', signedUrlHosts: [`${files.origin}/`] },
    ])
    expect(await user.at(['fetch', item, '--asset', 'band', '-o', '-'])).toMatchObject({ code: 0, stdout: CONTENT })
  })

  it('asks for the values of parameters that a signing service requires', async () => {
    const parameters = { href: { in: 'query', required: true }, project: { in: 'query', required: true } }
    const { item } = await signingService(keyGuard('query', 'project', 'p1'), parameters)
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', item], ['', 'y', 'p1'])
    expect(stderr).toContain('Value of "project" for the signing service')
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "sign" works')])
    expect(await user.credentials()).toMatchObject([{ id: 'sign', parameters: { project: 'p1' } }])
  })
})

describe('the confirmation of setup', () => {
  it('asks for consent to loopback and private hosts, and writes nothing after a no', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['key'])
    const { code, stderr } = await user.at(['setup', item], [''])
    expect(stderr).toContain(`  secret goes to   ${server.origin}/ (1 asset)      on this machine\nCreate this credential?  ${ASKED}`)
    expect([code, stderr]).toEqual([3, expect.stringContaining('"key" still without a credential')])
    expect(server.exchanges).toEqual([])
    await expect(user.credentials()).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await user.at(['credentials', 'add', item], ['y'])).toMatchObject({ code: 4, stderr: expect.stringContaining('URL_INSECURE') })
  })

  it('names a host of the private network, and refuses http: to it', async () => {
    const assets = {
      inside: { href: 'https://10.1.2.3/a.tif', 'auth:refs': ['key'] },
      plain: { href: 'http://10.1.2.3/a.tif', 'auth:refs': ['key'] },
    }
    const item = await put(folder, 'private.json', itemWith(assets))
    const user = await newUser()
    const { stderr } = await user.at(['setup', item], ['n'])
    expect(stderr).toContain('secret goes to   https://10.1.2.3/ (1 asset)      in your private network\n')
    expect(stderr).toContain('URL_INSECURE /assets/plain: ')
  })

  it('asks where a credential of the same kind exists for another host, and extends it', async () => {
    const server = await fourFiles()
    const elsewhere = { id: 'portal', type: 'apiKey', in: 'header', name: 'x-api-key', value: { env: 'K' }, sendTo: ['https://a.example/'] }
    const user = await newUser(elsewhere)
    const item = await itemOf(server, ['key'])
    const skipped = await user.at(['setup', item], [''])
    expect([skipped.code, await user.credentials()]).toEqual([3, [elsewhere]])
    const { stderr } = await user.at(['setup', item], ['u'])
    expect(stderr).toContain(`"portal" is a credential of this kind; until now it is sent to https://a.example/\n`)
    expect(await user.credentials()).toEqual([{ ...elsewhere, sendTo: ['https://a.example/', `${server.origin}/`] }])
    const other = await newUser(elsewhere)
    expect(await other.at(['setup', item], ['n', 'y', SECRETS.key])).toMatchObject({ code: 0 })
    expect((await other.credentials()).map(({ id }) => id)).toEqual(['portal', 'key'])
  })
})

describe('another credential for the same host', () => {
  const present = (server: AnsweringServer) => ({
    id: 'old',
    type: 'apiKey',
    in: 'query',
    name: 'x-api-key',
    value: { env: 'OLD' },
    sendTo: [`${server.origin}/`],
  })

  it('does not hide from setup and from credentials add that a scheme has none', async () => {
    const server = await fourFiles()
    const item = await itemOf(server, ['key', 'token'])
    const user = await newUser(present(server))
    const { code, stderr } = await user.at(['credentials', 'add', item], ['y', 'env:KEY', 'y', 'env:TOKEN'])
    expect(stderr).toContain('  note: scheme "key" requires in "header", credential "old" has "query"\n')
    expect([code, (await user.credentials()).map(({ id }) => id)]).toEqual([0, ['old', 'key', 'token']])
    expect((await user.at(['credentials', 'add', item])).stderr).toMatch(/^nothing to add: every scheme/)
    const another = await newUser(present(server))
    expect(await another.at(['setup', item], ['y', SECRETS.key, 'y', SECRETS.token])).toMatchObject({ code: 0 })
  })

  it('says which endpoint differs before a secret goes to a new one', async () => {
    const sendTo = ['https://data.example/']
    const client = { type: 'oauth2', flow: 'clientCredentials', clientId: 'me', clientSecret: { env: 'S' } }
    const user = await newUser({ id: 'eo', ...client, tokenUrl: 'https://identity.example/token', sendTo })
    const schemes = { o: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://evil.example/token' } } } }
    const item = await put(folder, 'endpoint.json', itemWith({ a: { href: 'https://data.example/a', 'auth:refs': ['o'] } }, { schemes }))
    const { code, stderr } = await user.at(['credentials', 'add', item], ['n'])
    expect(stderr).toContain(
      '  note: scheme "o" sends the secret to https://evil.example/token, credential "eo" has https://identity.example/token\n',
    )
    expect([code, await user.credentials()]).toEqual([3, expect.objectContaining({ length: 1 })])
    const alone = await user.at(['credentials', 'add', item], [], { isTTY: false })
    expect(alone).toMatchObject({ code: 4, stderr: expect.stringContaining('CREDENTIAL_ENDPOINT_UNTRUSTED') })
  })
})

/** Does in the browser what the terminal says, once it has said it. */
function person() {
  let shown = ''
  return (text: string) => {
    const pattern = /open this URL in a browser on this machine:\n {2}(\S+)\n/
    const before = pattern.test(shown)
    shown += text
    const address = pattern.exec(shown)?.[1]
    if (!before && address !== undefined) void browse(address)
  }
}
