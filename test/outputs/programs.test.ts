/** Outputs for programs: what they hold, that nothing breaks out of their quotes, and that nobody can run them while secrets are hidden. */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { AuthorizedRequest } from '../../src/auth/auth.ts'
import { isAuthError } from '../../src/errors.ts'
import { aria2 } from '../../src/outputs/aria2.ts'
import { aws } from '../../src/outputs/aws.ts'
import { curl } from '../../src/outputs/curl.ts'
import { duckdb } from '../../src/outputs/duckdb.ts'
import { fsspec } from '../../src/outputs/fsspec.ts'
import { netrc } from '../../src/outputs/netrc.ts'
import { powershell } from '../../src/outputs/powershell.ts'
import { python } from '../../src/outputs/python.ts'
import { rclone } from '../../src/outputs/rclone.ts'
import type { OutputOptions } from '../../src/outputs/redact.ts'
import { sh } from '../../src/outputs/sh.ts'
import { wget } from '../../src/outputs/wget.ts'
import { root } from '../architecture/files.ts'
import { hostile, SECRET, withBearer, withObject, withQueryKey } from './requests.ts'

const run = promisify(execFile)

const keys = { accessKeyId: `AKID${SECRET}`, secretAccessKey: `key+${SECRET}`, sessionToken: `token/${SECRET}` }
const withKeys: AuthorizedRequest = { ...withObject, keys }
const withKey: AuthorizedRequest = { ...withBearer, headers: { 'x-api-key': SECRET }, secretIn: { headers: ['x-api-key'], url: false } }
const withBasic: AuthorizedRequest = { ...withBearer, headers: { authorization: `Basic ${btoa(`ada:${SECRET}`)}` } }
const requests = { withBearer, withKey, withBasic, withQueryKey, withKeys, hostile }
const texts = { sh, wget, aria2, powershell, python, fsspec, rclone, netrc, duckdb, aws, curl }

/** What has tests of its own for secrets and hostile names, or prints no text. */
const ELSEWHERE = ['fetch', 'gdal', 'headers', 'http', 'json', 'url']

it('every output is tried here or has such tests of its own', () => {
  const modules = readdirSync(join(root, 'src/outputs')).map((name) => name.replace(/\.ts$/, ''))
  const untried = modules.filter(
    (name) => ![...Object.keys(texts), ...ELSEWHERE, 'index', 'handed-over', 'not-expressible', 'redact'].includes(name),
  )
  expect(untried, 'add it to texts').toEqual([])
})

/** The text, or undefined where the output cannot express the request. */
function textOf(output: (request: AuthorizedRequest, options?: OutputOptions) => string, request: AuthorizedRequest, reveal = false) {
  try {
    return output(request, { reveal })
  } catch (error) {
    expect(isAuthError(error) && error.code).toBe('OUTPUT_UNSUPPORTED')
    expect(isAuthError(error) && error.hint).toMatch(/--as /)
    expect(String(error)).not.toContain(SECRET)
    return undefined
  }
}

/** The outputs that express each of the requests. */
const EXPRESSED = {
  withBearer: ['sh', 'wget', 'aria2', 'powershell', 'python', 'fsspec', 'duckdb', 'curl'],
  withKey: ['sh', 'wget', 'aria2', 'powershell', 'python', 'fsspec', 'duckdb', 'curl'],
  withBasic: ['sh', 'wget', 'aria2', 'powershell', 'python', 'fsspec', 'netrc', 'duckdb', 'curl'],
  withQueryKey: ['sh', 'wget', 'aria2', 'powershell', 'python', 'fsspec', 'curl'],
  withKeys: ['sh', 'wget', 'aria2', 'powershell', 'python', 'fsspec', 'rclone', 'duckdb', 'aws', 'curl'],
  hostile: ['sh', 'wget', 'aria2', 'powershell', 'python', 'fsspec', 'duckdb', 'curl'],
} as const

describe.each(Object.entries(requests))('%s', (name, request) => {
  it('is printed by the outputs that can express it; the others name one that can', () => {
    const expressed = Object.entries(texts).flatMap(([as, output]) => (textOf(output, request, true) === undefined ? [] : [as]))
    expect(expressed).toEqual(EXPRESSED[name as keyof typeof EXPRESSED])
  })

  it.each(Object.entries(texts))('hides its secret in %s, and prints no control characters or forged lines', (_as, output) => {
    expect(textOf(output, request) ?? '').not.toContain(SECRET)
    const text = textOf(output, request, true) ?? ''
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u)
    expect(text).not.toMatch(/^\s*x-injected/m)
  })

  it('with hidden secrets runs in no shell', async () => {
    for (const output of [sh, wget, curl]) {
      for (const shell of ['sh', 'bash']) {
        const failure = await run(shell, ['-c', `PATH=/nowhere; ${output(request)}\necho ran`]).catch((error) => error)
        expect([failure.code === 0, failure.stdout]).toEqual([false, ''])
        expect(failure.stderr).toMatch(/syntax error/i)
      }
    }
  })

  it('with hidden secrets is neither JSON nor a line that is more than a comment', () => {
    for (const output of [fsspec, aws]) {
      const text = textOf(output, request)
      if (text !== undefined) expect(() => JSON.parse(text)).toThrow(SyntaxError)
    }
    for (const output of [aria2, rclone, netrc]) {
      for (const line of textOf(output, request)?.split('\n') ?? []) expect(line).toMatch(/^# /)
    }
  })
})

describe('sh', () => {
  it('assigns what it shows, whatever a name or value holds, and exports nothing', async () => {
    const request = { ...hostile, method: 'POST', body: "it's\n$(id)" }
    const script = `eval "$1"; printf '%s\\037' "$STAC_AUTH_METHOD" "$STAC_AUTH_URL" "$STAC_AUTH_HEADERS" "$STAC_AUTH_BODY"; env | grep -c STAC_AUTH_`
    const failure = await run('sh', ['-c', script, 'sh', sh(request, { reveal: true })]).catch((error) => error)
    expect(failure.stdout.split('\x1f')).toEqual([
      'POST',
      "https://data.example/'$(id)'\\u{202e}",
      `x-\\u{1b}[2J': a'b\\u{d}\\u{a}x-injected: 1\nauthorization: ${SECRET}`,
      "it's\n$(id)",
      '0\n',
    ])
  })

  it('assigns nothing while secrets are hidden', async () => {
    const failure = await run('bash', ['-c', 'eval "$1"; printf %s "[$STAC_AUTH_URL]"', 'bash', sh(withBearer)])
    expect(failure.stdout).toBe('[]')
  })
})

describe('wget', () => {
  it('keeps headers and URL out of arguments, and follows no redirect with a header that is secret', () => {
    const [command] = wget(withKey, { reveal: true }).match(/wget .*/) ?? []
    expect(command).toBe('wget --config="$config" --input-file=-')
    expect(wget(withKey)).toContain("'max_redirect = 0'")
    expect(wget(withBearer)).toContain("'max_redirect = 0'")
    expect(wget(withQueryKey)).not.toContain('max_redirect')
  })
})

describe('aria2', () => {
  it('aria2 is a URL and its options', () => {
    expect(aria2(withBearer, { reveal: true }).split('\n')).toEqual([
      'https://data.example/B04.tif?x=1',
      '  header=accept: */*',
      `  header=authorization: Bearer ${SECRET}`,
      '  out=B04.tif',
      '  no-netrc=true',
      '  parameterized-uri=false',
      '  follow-metalink=false',
      '  follow-torrent=false',
    ])
  })

  it.each([
    ['https://data.example/.bashrc', 'bashrc'],
    ['https://data.example/%2e%2e%2f%2fetc%2fpasswd', '__etc_passwd'],
    ['https://data.example/a%0A%20%20dir=x', 'a_  dir=x'],
    ['https://data.example/', 'asset'],
    ['https://data.example/%ff', '%ff'],
  ])('names the file of %s %s', (url, name) => {
    expect(aria2({ ...withBearer, url }, { reveal: true })).toContain(`\n  out=${name}\n`)
  })
})

describe('powershell', () => {
  /** The strings of a text in single quotes, by the rules of its language (about_Quoting_Rules): any single quote ends one, two are one. */
  function strings(text: string): string[] {
    const found: string[] = []
    for (let at = 0; at < text.length; at++) {
      if (!/['\u2018-\u201b]/.test(text[at] ?? '')) continue
      let value = ''
      for (at++; at < text.length; at++) {
        if (/['\u2018-\u201b]/.test(text[at] ?? '') && !/['\u2018-\u201b]/.test(text[++at] ?? '')) break
        value += text[at]
      }
      found.push(value)
    }
    return found
  }

  it('keeps every name and value in its string, also with typographic quotes', () => {
    const value = `a'; rm -r /; '\u2019); \u2018\u201a\u201b\`$(id)"`
    const text = powershell({ ...withKey, headers: { "x-'y": value }, secretIn: { headers: ["x-'y"], url: false } }, { reveal: true })
    expect(strings(text)).toEqual([withKey.url, 'GET', "x-'y", value])
    expect(text.replace(/'(?:[^'\u2018-\u201b]|['\u2018-\u201b]{2})*'/gu, 'S')).toBe(
      'Invoke-WebRequest -Uri S `\n  -Method S `\n  -Headers @{ S = S } `\n  -MaximumRedirection 0',
    )
  })

  it('follows redirects where only Authorization is secret, which it removes itself', () => {
    expect(powershell(withBearer)).not.toContain('-MaximumRedirection')
    expect(powershell(withQueryKey)).not.toContain('-MaximumRedirection')
  })

  it('does not parse while secrets are hidden: "<" is reserved', () => {
    expect(powershell(withBearer)).toMatch(/\n {2}<secrets are hidden: use --reveal>$/)
  })
})

describe('python', () => {
  it('python is ASCII, with literals that escape quotes, backslashes and line ends', () => {
    const value = `"\\\u2028'#{x}\u{1f6f0}é\n`
    const text = python({ ...withKey, headers: { 'x-"y': value } }, { reveal: true })
    expect(text).toContain(String.raw`headers={"x-\"y": "\"\\\\u{2028}'#{x}\U0001f6f0\u00e9\\u{a}", "accept-encoding": "identity"},`)
    expect(text).toMatch(/^[\n -~]*$/)
  })

  it('python is no program while secrets are hidden', () => {
    expect(python(withBearer)).toContain('    timeout=60,\n    <secrets are hidden: use --reveal>\n) as response:')
  })

  it('follows redirects where requests removes the header', () => {
    expect(python(withBearer)).toContain('allow_redirects=True')
    expect(python(withKey)).toContain('allow_redirects=False')
  })
})

describe('fsspec', () => {
  it('fsspec has the URL and its options', () => {
    expect(JSON.parse(fsspec(withBearer, { reveal: true }))).toEqual({
      url: withBearer.url,
      storage_options: { headers: { accept: '*/*', authorization: `Bearer ${SECRET}` }, encoded: true },
    })
    expect(JSON.parse(fsspec(withKey, { reveal: true })).storage_options.allow_redirects).toBe(false)
    expect(JSON.parse(fsspec(withQueryKey, { reveal: true }))).toEqual({ url: withQueryKey.url, storage_options: { encoded: true } })
  })

  it.each(['a/*/b', 'a/[1-3]', 'a::https://evil.example/', 'a?b=[1]'])('is refused for what fsspec reads as several URLs: %s', (end) => {
    const [web, object] = [`https://data.example/${end}`, withKeys.location]
    for (const request of [{ ...withBearer, url: web }, ...(object ? [{ ...withKeys, location: { ...object, key: end } }] : [])])
      expect(() => fsspec(request, { reveal: true })).toThrow(expect.objectContaining({ code: 'OUTPUT_UNSUPPORTED' }))
    expect(fsspec({ ...withBearer, url: 'https://data.example/a?b=1:2' }, { reveal: true })).toContain('a?b=1:2')
  })

  it('fsspec has the keys and the endpoint of an object, and is anonymous for a public one', () => {
    expect(JSON.parse(fsspec(withKeys, { reveal: true }))).toEqual({
      url: 's3://eo/a/b.tif',
      storage_options: {
        key: keys.accessKeyId,
        secret: keys.secretAccessKey,
        token: keys.sessionToken,
        requester_pays: true,
        client_kwargs: { endpoint_url: 'https://s3.eu-central-1.amazonaws.com', region_name: 'eu-central-1' },
        config_kwargs: { s3: { addressing_style: 'virtual' } },
      },
    })
    const { credential: _none, ...open } = { ...withObject, secretIn: { headers: [], url: false } }
    expect(JSON.parse(fsspec(open)).storage_options).toMatchObject({ anon: true })
  })

  it('fsspec is refused for the version of an object, which it would not request', () => {
    const versioned = { ...withKeys, url: `${withKeys.url}?versionId=1` }
    expect(() => fsspec(versioned, { reveal: true })).toThrow(expect.objectContaining({ code: 'OUTPUT_UNSUPPORTED' }))
  })
})

describe('rclone', () => {
  const plain = { ...withBearer, url: 'https://data.example/a/B%2004.tif', headers: { authorization: `Bearer "${SECRET}"` } }

  it('rclone is a remote for the folder of the file, and reports how to copy it', () => {
    expect(rclone(plain, { reveal: true }).split('\n')).toEqual([
      "# rclone --config FILE copyto --ignore-times 'stac-auth:B 04.tif' NAME",
      '[stac-auth]',
      'type = http',
      'url = https://data.example/a/',
      'no_head = true',
      `headers = authorization,"Bearer ""${SECRET}"""`,
    ])
  })

  it('rclone is a remote for the object store, with the keys', () => {
    expect(rclone(withKeys, { reveal: true }).split('\n')).toEqual([
      "# rclone --config FILE copyto 'stac-auth:eo/a/b.tif' NAME",
      '[stac-auth]',
      'type = s3',
      'provider = AWS',
      'env_auth = false',
      `access_key_id = ${keys.accessKeyId}`,
      `secret_access_key = ${keys.secretAccessKey}`,
      `session_token = ${keys.sessionToken}`,
      'endpoint = https://s3.eu-central-1.amazonaws.com',
      'region = eu-central-1',
      'force_path_style = false',
      'requester_pays = true',
    ])
  })

  it.each([
    { ...plain, url: 'https://data.example/%(type)s/a.tif' },
    { ...plain, url: 'https://data.example/..%2f..%2fa.tif' },
    { ...plain, url: 'https://data.example/a.tif?x=1' },
    { ...plain, url: 'https://data.example/a%09.tif' },
    { ...withKeys, url: `${withKeys.url}?versionId=1` },
    { ...withKeys, location: withKeys.location && { ...withKeys.location, key: 'a\u0001.tif' } },
    { ...plain, headers: { ...plain.headers, '`x': '1' } },
    { ...plain, headers: { authorization: 'x%(url)s' } },
    { ...plain, headers: { authorization: 'x\\' } },
    { ...plain, method: 'POST' },
  ])('refuses what its configuration would change: %j', (request) => {
    expect(() => rclone(request, { reveal: true })).toThrow(expect.objectContaining({ code: 'OUTPUT_UNSUPPORTED' }))
  })
})

describe('netrc', () => {
  const withUser = (user: string) => ({ ...withBearer, headers: { authorization: `Basic ${btoa(user)}` } })

  it('netrc is one line for the host', () => {
    expect(netrc(withBasic, { reveal: true })).toBe(`machine data.example login ada password ${SECRET}`)
    expect(netrc(withBasic)).toContain('# machine data.example login [secret] password [secret]')
  })

  it.each(['ada:a b', 'ada:"x"', 'ada:a\\b', 'ada:#x', 'ada:', ':x', "ada:x'", 'ada:\nmachine', 'ada:é', 'nobody'])(
    'refuses %j, which programs would read in different ways',
    (user) => {
      expect(() => netrc(withUser(user), { reveal: true })).toThrow(expect.objectContaining({ code: 'OUTPUT_UNSUPPORTED' }))
    },
  )

  it('keeps a password with colons and signs whole', () => {
    expect(netrc(withUser('ada:a:b#c$(d);'), { reveal: true })).toMatch(/ password a:b#c\$\(d\);$/)
  })
})

describe('duckdb', () => {
  /** Text between the quotes of a statement, and what is left without it. */
  const split = (sql: string) => ({
    strings: [...sql.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = '']) => text.replaceAll("''", "'")),
    rest: sql.replace(/'(?:[^']|'')*'/g, 'S'),
  })

  it('keeps every name and value in its string', () => {
    const value = `x', y: 'z'}; DROP TABLE t; --\\`
    const { strings, rest } = split(duckdb({ ...withKey, headers: { "x'y": value }, url: "https://data.example/';--" }, { reveal: true }))
    expect(strings).toEqual(["x'y", value, "https://data.example/';--"])
    expect(rest).toBe('CREATE OR REPLACE TEMPORARY SECRET stac_auth (\n  TYPE http,\n  EXTRA_HTTP_HEADERS MAP { S: S },\n  SCOPE S\n);')
  })

  it('duckdb has the keys of an object', () => {
    expect(duckdb(withKeys, { reveal: true }).split('\n')).toEqual([
      'CREATE OR REPLACE TEMPORARY SECRET stac_auth (',
      '  TYPE s3,',
      `  KEY_ID '${keys.accessKeyId}',`,
      `  SECRET '${keys.secretAccessKey}',`,
      `  SESSION_TOKEN '${keys.sessionToken}',`,
      "  REGION 'eu-central-1',",
      "  ENDPOINT 's3.eu-central-1.amazonaws.com',",
      "  URL_STYLE 'vhost',",
      '  USE_SSL true,',
      '  REQUESTER_PAYS true,',
      "  SCOPE 's3://eo/a/b.tif'",
      ');',
    ])
  })
})

describe('aws', () => {
  it('aws is what credential_process prints', () => {
    const expiresAt = '2026-11-20T10:00:00Z'
    expect(JSON.parse(aws({ ...withKeys, keys: { ...keys, expiresAt } }, { reveal: true }))).toEqual({
      Version: 1,
      AccessKeyId: keys.accessKeyId,
      SecretAccessKey: keys.secretAccessKey,
      SessionToken: keys.sessionToken,
      Expiration: expiresAt,
    })
    const { sessionToken: _none, ...permanent } = keys
    expect(Object.keys(JSON.parse(aws({ ...withKeys, keys: permanent }, { reveal: true })))).toEqual([
      'Version',
      'AccessKeyId',
      'SecretAccessKey',
    ])
  })
})
