/** The printed outputs, run by the programs they are for: a strict server, redirects to another origin, hostile names and hidden secrets. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fromProcess } from '@aws-sdk/credential-providers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { asset, item, scheme } from '../harness/documents.ts'
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from '../servers/answering-server.ts'
import { type Peer, startPeer } from './peer.ts'
import { type ShellUser, shellUser } from './shell-user.ts'

const SECRET = `p'ss"w\\o$(id)%rd`
const PLAIN = 'hunter2-hunter2'
const BODY = 'the protected file\n'

let programs: Peer<object> | undefined
let files: AnsweringServer
let elsewhere: AnsweringServer

/** Answers with a file for whoever has the secret, and 401 to others; `/away/…` redirects to another origin. */
function answer({ path, query, headers, method }: Inquiry): Answer {
  const given = [headers.authorization, headers['x-api-key'], headers.cookie, query.get('k')]
  const known = [`Bearer ${PLAIN}`, `Basic ${btoa(`ada:${PLAIN}`)}`, PLAIN, SECRET, `session=${PLAIN}`]
  if (!given.some((one) => typeof one === 'string' && known.includes(one))) return { status: 401, body: 'who are you?' }
  if (path.startsWith('/away/')) return { status: 302, headers: { location: `${elsewhere.origin}/x.txt` } }
  return { status: 200, headers: { 'content-type': 'text/plain' }, body: method === 'HEAD' ? '' : BODY }
}

beforeAll(async () => {
  programs = await startPeer('outputs')
  files = await startAnswering(answer)
  elsewhere = await startAnswering(() => ({ status: 200, body: 'another host' }))
}, 300_000)
afterAll(async () => {
  await Promise.all([files?.close(), elsewhere?.close()])
  if (programs && 'stop' in programs) await programs.stop()
})
beforeEach(({ skip }) => {
  if (programs && 'missing' in programs) skip(programs.missing)
})

const SCHEMES = {
  bearer: scheme.bearer,
  basic: scheme.basic,
  key: scheme.key(),
  cookie: scheme.key('session', 'cookie'),
  query: scheme.key('k', 'query'),
}

async function userOf(path: string, ref: keyof typeof SCHEMES, secret = PLAIN): Promise<ShellUser> {
  const sendTo = [`${files.origin}/`]
  const user = await shellUser((keep) => [
    { ...SCHEMES.bearer, id: 'bearer', token: keep(secret), sendTo },
    { ...SCHEMES.basic, id: 'basic', username: 'ada', password: keep(secret), sendTo },
    { ...SCHEMES.key, id: 'key', value: keep(secret), sendTo },
    { ...SCHEMES.cookie, id: 'cookie', value: keep(secret), sendTo },
    { ...SCHEMES.query, id: 'query', value: keep(secret), sendTo },
  ])
  await user.put('item.json', item(SCHEMES, { data: asset(`${files.origin}${path}`, [ref]) }))
  await user.put(
    'read.py',
    'import fsspec, json, sys\no = json.load(sys.stdin)\nwith fsspec.open(o["url"], "rb", **o["storage_options"]) as f:\n    sys.stdout.buffer.write(f.read())\n',
  )
  return user
}

const AUTHORIZE = 'stac-auth authorize item.json --asset data'

/** How a user runs each output; `$1` is --reveal or nothing. The body goes to standard output. */
const RUN = {
  sh: `eval "$(${AUTHORIZE} --as sh $1)" && printf '%s\\n' "$STAC_AUTH_HEADERS" | curl -sSf -H @- "$STAC_AUTH_URL"`,
  zsh: `zsh -fc 'eval "$(${AUTHORIZE} --as sh $1)" && printf "%s\\n" "$STAC_AUTH_HEADERS" | curl -sSf -H @- "$STAC_AUTH_URL"' zsh "$1"`,
  curl: `${AUTHORIZE} --as curl $1 | sh`,
  wget: `${AUTHORIZE} --as wget $1 | sh`,
  python: `${AUTHORIZE} --as python $1 | /usr/bin/python3`,
  fsspec: `${AUTHORIZE} --as fsspec $1 | /usr/bin/python3 read.py`,
  aria2: `${AUTHORIZE} --as aria2 $1 | aria2c --quiet --dir got --input-file=- >&2 && cat got/*`,
  rclone: `${AUTHORIZE} --as rclone $1 >rc.conf; rclone --config rc.conf --retries 1 copyto stac-auth:f.txt got && cat got`,
} as const
type Output = keyof typeof RUN
const OUTPUTS = Object.keys(RUN) as Output[]

describe.each(OUTPUTS)('%s', (output) => {
  it.each(['bearer', 'basic', 'key', 'cookie', 'query'] as const)('gets the file with a credential: %s', async (ref) => {
    if (output === 'rclone' && ref === 'query') return expectRefused(await userOf('/f.txt', ref), 'rclone')
    const user = await userOf('/f.txt', ref)
    const { code, stdout, stderr } = await user.sh(RUN[output], '--reveal')
    expect([stdout.toString(), code, stderr.match(/error.*/)]).toEqual([BODY, 0, null])
  })

  it('sends nothing, and gets nothing, while secrets are hidden', async () => {
    const user = await userOf('/f.txt', 'key')
    const before = files.exchanges.length
    const { stdout, code } = await user.sh(RUN[output], '')
    expect([stdout.toString(), files.exchanges.length - before]).toEqual(['', 0])
    expect(code).not.toBe(0)
  })

  it('returns every character of a secret to the server', async () => {
    const user = await userOf('/f.txt', 'key', SECRET)
    const { stdout } = await user.sh(RUN[output], '--reveal')
    expect(stdout.toString()).toBe(BODY)
  })

  it.each(["';touch pwned;'.txt", '$(touch%20pwned)`touch$IFS./pwned`.txt', '%0Adir=pwned%0A%20%20out=pwned', '{a,b}[1-3].txt'])(
    'runs nothing of a file called %s',
    async (name) => {
      const user = await userOf(`/${name}`, 'key')
      await user.sh(RUN[output], '--reveal')
      expect(await readdir(user.folder)).not.toContain('pwned')
    },
  )

  const carried = { sh: [], zsh: [], curl: [], wget: [], python: [], fsspec: [], aria2: ['bearer', 'key'], rclone: ['key'] }[
    output
  ] as string[]
  it.each(['bearer', 'key'] as const)('after a redirect to another host: %s', async (ref) => {
    const user = await userOf('/away/f.txt', ref)
    const before = elsewhere.exchanges.length
    const { stderr } = await user.sh(RUN[output], '--reveal')
    const sent = elsewhere.exchanges.slice(before).some(({ request }) => JSON.stringify(request.headers).includes(PLAIN))
    expect(sent).toBe(carried.includes(ref))
    // What cannot be prevented is said.
    expect(/ after redirects too, also to other hosts/.test(stderr)).toBe(sent)
  })
})

async function expectRefused(user: ShellUser, as: string): Promise<void> {
  const { code, stderr } = await user.sh(`${AUTHORIZE} --as ${as} --reveal`)
  expect([code, stderr]).toEqual([2, expect.stringContaining('error OUTPUT_UNSUPPORTED /assets/data: ')])
}

describe('python', () => {
  it('keeps its header where ~/.netrc has another one for the host', async () => {
    const user = await userOf('/f.txt', 'bearer')
    await user.sh('printf "machine 127.0.0.1 login x password y\\n" >.netrc; chmod 600 .netrc')
    expect((await user.sh(RUN.python, '--reveal')).stdout.toString()).toBe(BODY)
  })
})

describe('wget', () => {
  it('leaves no file with the secret behind', async () => {
    const user = await userOf('/f.txt', 'bearer')
    await user.sh(`mkdir tmp; TMPDIR=$PWD/tmp; export TMPDIR; ${RUN.wget}`, '--reveal')
    expect(await readdir(join(user.folder, 'tmp'))).toEqual([])
  })
})

describe('netrc', () => {
  it.each([
    ['curl', 'curl -sSf --netrc-file .netrc "$1"'],
    ['wget', 'wget -qO- --auth-no-challenge "$1"'],
    ['requests', '/usr/bin/python3 -c "import requests, sys; sys.stdout.write(requests.get(sys.argv[1]).text)" "$1"'],
  ])('netrc is read by %s', async (_program, command) => {
    const user = await userOf('/f.txt', 'basic')
    const { stdout } = await user.sh(`(umask 077; ${AUTHORIZE} --as netrc --reveal >.netrc); ${command}`, `${files.origin}/f.txt`)
    expect(stdout.toString()).toBe(BODY)
  })

  it('reports which output to use for an API key', async () => {
    await expectRefused(await userOf('/f.txt', 'key'), 'netrc')
  })
})

describe('aws', () => {
  it('returns its keys to the AWS SDK as credential_process', async () => {
    const user = await shellUser((keep) => [
      {
        id: 'eo',
        type: 's3',
        accessKeyId: keep('AKIAEXAMPLE'),
        secretAccessKey: keep(SECRET),
        region: 'eu-central-1',
        sendTo: ['s3://eo/'],
      },
    ])
    const file = await user.put('item.json', item({ s3: { type: 's3' } }, { data: asset('s3://eo/a.tif', ['s3']) }))
    const variables = `STAC_AUTH_CREDENTIALS=${join(user.folder, 'credentials.json')} PATH=${join(user.folder, 'bin')}:$PATH`
    const command = `sh -c '${variables} stac-auth authorize ${file} --asset data --as aws --reveal'`
    const config = await user.put('config', `[profile eo]\ncredential_process = ${command}\n`)
    const identity = await fromProcess({ profile: 'eo', configFilepath: config, filepath: join(user.folder, 'none'), ignoreCache: true })()
    expect(identity).toMatchObject({ accessKeyId: 'AKIAEXAMPLE', secretAccessKey: SECRET })
    expect(await readFile(config, 'utf8')).not.toContain(SECRET)
  })
})
