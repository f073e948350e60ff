/** Catalogs that try to look like a part of the question about them. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fingerprintOf } from '../../src/cli/credentials/proposal.ts'
import { plain, quoted, urlText } from '../../src/cli/credentials/question.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, KEY_SCHEME } from './items.ts'
import { run } from './run.ts'
import { body, serve } from './server.ts'

const folder = await temporaryFolder()
const file = `${folder}/none/credentials.json`
const env = { NO_COLOR: '1' }

/** What is on the screen when the answer is no. */
async function shown(item: object, more: readonly string[] = []): Promise<string> {
  const name = await put(folder, 'item.json', item)
  const { code, stderr } = await run(['credentials', 'add', name, '--credentials', file, ...more], { isTTY: true, stdin: 'd\nn\n', env })
  expect(code).toBe(3)
  return stderr
}

const itemOf = (name: string, scheme: object, ...hrefs: readonly string[]) =>
  itemWith(Object.fromEntries(hrefs.map((href, index) => [`a${index}`, { href, 'auth:refs': [name] }])), { schemes: { [name]: scheme } })

describe('a name of the catalog', () => {
  it.each([
    ['\x1b[2J\x1b[Hx', '"\\u{1b}[2J\\u{1b}[Hx"'],
    [
      'a" (HTTP, bearer)\n  secret goes to   https://good.example/',
      '"a\\" (HTTP, bearer)\\u{a}\\u{20} secret goes to\\u{20}\\u{20} https://good.example/"',
    ],
    ['\u202egnitfihs\u2066', '"\\u{202e}gnitfihs\\u{2066}"'],
    ['z\u0335\u0336\u200b\u00ad\u{e0041}', '"z\\u{335}\\u{336}\\u{200b}\\u{ad}\\u{e0041}"'],
    ['k\u3164\u115f\u1160\uffa0\u2800', '"k\\u{3164}\\u{115f}\\u{1160}\\u{ffa0}\\u{2800}"'],
    ['x'.repeat(100_000), `"${'x'.repeat(59)}…"`],
    ['::set-output name=x::', '"::set-output name=x::"'],
  ])('%j is shown as it is not', async (name, text) => {
    const stderr = await shown(itemOf(name, KEY_SCHEME, 'https://data.example/a'))
    expect(stderr.split('\n')[0]).toBe(`${folder}/item.json asks for ${text} (API key, header x-api-key)`)
    const [before = ''] = stderr.split('error NO_CREDENTIAL')
    expect(before).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/)
    expect(before.length).toBeLessThan(3000)
  })

  it.each([
    ['--yes', 'yes'],
    ['../../etc/x y', 'etc-x-y'],
    ['\u043a\u043b\u044e\u0447', 'credential'],
    ['__proto__', 'proto__'],
  ])('%j gives the id %j', async (name, id) => {
    const entries = JSON.parse(`{${JSON.stringify(name)}: ${JSON.stringify(KEY_SCHEME)}}`)
    const target = { href: 'https://data.example/a', 'auth:refs': [name] }
    expect(await shown(itemWith({ target }, { schemes: entries }))).toContain(`"id": "${id}"`)
  })
})

describe('a URL of the catalog', () => {
  it('a host that no pattern can have is named where setup says that a credential may not be sent there', async () => {
    const assets = { 'a\u3164': { href: 'https://a,b.example/x', 'auth:refs': ['k'] } }
    const item = await put(folder, 'comma.json', itemWith(assets, { schemes: { k: KEY_SCHEME } }))
    const entry = { id: 'mine', ...KEY_SCHEME, value: { env: 'MINE' }, sendTo: ['https://data.example/'] }
    const own = await put(folder, 'own.json', { version: 1, credentials: [entry] })
    const { stderr } = await run(['setup', item, '--credentials', own], { env })
    expect(stderr).toContain('credential "mine" may not be sent to https://a,b.example/, for a\\u{3164}\n')
  })

  it('a URL of the catalog is shown in ASCII, with what it looks like behind it', async () => {
    const flows = { clientCredentials: { tokenUrl: 'https://d\u0430ta.example/token' } }
    const stderr = await shown(itemOf('o', { type: 'oauth2', flows }, 'https://b\u00fccher.example/a'))
    expect(stderr).toContain('"tokenUrl": "https://xn--dta-6cd.example/token"')
    expect(stderr).toContain('secret goes to   https://xn--dta-6cd.example/token (d\u0430ta.example)\n')
    expect(stderr).toContain('token goes to    https://xn--bcher-kva.example/ (b\u00fccher.example) (1 asset)\n')
  })

  it('a URL of the catalog on a shared host is allowed with its folder only', async () => {
    const hrefs = ['https://s3.eu-central-1.amazonaws.com/eo/a', 'https://s3.eu-central-1.amazonaws.com/eo/b', 's3://bucket/key']
    expect(await shown(itemOf('k', KEY_SCHEME, ...hrefs))).toContain(
      'secret goes to   https://s3.eu-central-1.amazonaws.com/eo/ (2 assets)\n',
    )
  })

  it('a URL of the catalog that reads as a pattern is not offered', async () => {
    const text = await shown(itemOf('k', KEY_SCHEME, 'https://*.data.example/a.tif', 'https://data.example/b.tif'))
    expect(text).toContain('secret goes to   https://data.example/ (1 asset)\n')
    expect(text).not.toContain('*.data.example/')
  })

  it('among too many is omitted of the credential, and that is said', async () => {
    const hrefs = Array.from({ length: 100 }, (_, index) => `https://h${index}.example/a`)
    const stderr = await shown(itemOf('k', KEY_SCHEME, ...hrefs))
    expect(stderr).toContain('\n                   88 more hosts are not included\n')
    expect(stderr).toContain('\n    … and 80 more\n')
    expect(stderr).not.toContain('https://h12.example/')
  })

  it('a URL of the catalog that no secret may go to is not offered', async () => {
    const item = itemOf('k', KEY_SCHEME, 'http://data.example/', 'https://10.0.0.1/', 'https://ada@data.example/', 'file:///etc/passwd')
    const name = await put(folder, 'item.json', item)
    const outcome = await run(['credentials', 'add', name, '--credentials', file], { isTTY: true, stdin: 'y\n', env })
    expect([outcome.code, outcome.stderr]).toEqual([4, expect.stringMatching(/^error URL_INSECURE \/assets\/a0\/href/)])
  })
})

it('scopes of the catalog are shown, cut, and never requested', async () => {
  const scopes = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`s${index}\x07`, '']))
  const flows = { clientCredentials: { tokenUrl: 'https://identity.example/token', scopes } }
  const stderr = await shown(itemOf('o', { type: 'oauth2', flows }, 'https://data.example/'))
  expect(stderr).toMatch(/scopes {11}none {6}\(the catalog lists: s0\\u\{7\}, .*, and 990 more; not requested\)/)
  expect(stderr).not.toContain('"scopes"')
})

it('reports where the secrets of a fetched catalog leave its site; a typed URL may be loopback', async () => {
  const flows = { clientCredentials: { tokenUrl: 'https://identity.example/token' } }
  const answers: Record<string, ReturnType<typeof body>> = {}
  const { origin } = await serve(answers)
  answers['/item.json?sig=hunter2'] = body(JSON.stringify(itemOf('o', { type: 'oauth2', flows }, 'a.tif')))
  const argv = ['credentials', 'add', `${origin}item.json?sig=hunter2`, '--credentials', file]
  const { stderr } = await run(argv, { isTTY: true, stdin: 'n\n', env })
  expect(stderr).toContain('secret goes to   https://identity.example/token      not the host of the catalog\n')
  expect(stderr).toContain(`token goes to    ${origin} (1 asset)\n`)
  expect(stderr.split('\n')[0]).toBe(`${origin}item.json?sig=… asks for "o" (OAuth 2, client credentials)`)
})

describe('inert text', () => {
  it('keeps letters of all languages', () => {
    expect(plain('Zu\u0308rich \u6771\u4eac \ud83d\udef0')).toBe('Z\u00fcrich \u6771\u4eac \ud83d\udef0')
    expect(quoted('C:\\x "y"')).toBe('"C:\\\\x \\"y\\""')
    expect(plain('\ud83d\udef0'.repeat(70))).toBe(`${'\ud83d\udef0'.repeat(59)}…`)
  })

  it('shows patterns like URLs', () => {
    expect(urlText('https://*.xn--bcher-kva.example/')).toBe('https://*.xn--bcher-kva.example/ (b\u00fccher.example)')
    expect(urlText('https://*.d\u0430ta.example:8443/a/')).toBe('https://*.xn--dta-6cd.example:8443/a/ (d\u0430ta.example)')
    expect(urlText('https://d\u0430ta.example')).toBe('https://xn--dta-6cd.example (d\u0430ta.example)')
    expect(urlText('https://[::1]:8080/')).toBe('https://[::1]:8080/')
    expect(urlText('s3://bucket/')).toBe('s3://bucket/')
    expect(urlText('https://u@data.example/')).toBe('https://u@data.example/')
    expect(urlText('item.json')).toBe('item.json')
    expect(urlText('/tmp/a\x1bb.json')).toBe('/tmp/a\\u{1b}b.json')
  })
})

it('a fingerprint is the hash of the tuple as canonical JSON', () => {
  const tuple = [
    { name: 'tokenUrl', value: 'https://i.example/t\u20ac"', pointer: '' },
    { name: 'flow', value: 'clientCredentials', pointer: '' },
  ]
  const json = '{"flow":"clientCredentials","tokenUrl":"https://i.example/t\u20ac\\"","type":"oauth2"}'
  expect(fingerprintOf('oauth2', tuple)).toBe(createHash('sha256').update(json).digest('hex'))
  expect(fingerprintOf('oauth2', [...tuple].reverse())).toBe(fingerprintOf('oauth2', tuple))
})
