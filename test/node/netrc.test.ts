import { chmod, chown, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { credentialsFromText } from '../../src/node/credentials/credential-file.ts'
import { entryFor } from '../../src/node/credentials/netrc.ts'
import { secretSource } from '../../src/node/credentials/secret-source.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { failureOf } from '../harness/failure.ts'
import { script } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'

const HOST = 'urs.example'

/** What curl 7.88 sends for the same file, where it sends a login and a password. */
const ROWS: readonly (readonly [title: string, text: string, login: string | undefined, password: string | undefined])[] = [
  ['one line', `machine ${HOST} login ada password pw\n`, 'ada', 'pw'],
  ['several lines without a last line break', `machine ${HOST}\n\tlogin ada\n\n  password pw`, 'ada', 'pw'],
  ['keywords and hosts in any case', `MACHINE URS.example LOGIN ada PASSWORD pw\n`, 'ada', 'pw'],
  ['line breaks of Windows', `machine ${HOST} login ada password pw\r\n`, 'ada', 'pw'],
  ['a comment at the end of a line', `machine ${HOST} login ada # password no\npassword p#w\n`, 'ada', 'p#w'],
  ['a comment for a line', `# machine ${HOST} login bob password no\nmachine ${HOST} login ada password pw`, 'ada', 'pw'],
  ['a password that begins with # and is not quoted', `machine ${HOST} login ada password #pw\n`, 'ada', undefined],
  ['a quoted string', `machine ${HOST} login "a da" password "#p w\\"x\\t\\\\\\n\\r"\n`, 'a da', '#p w"x\t\\\n\r'],
  ['quotes within a word', `machine ${HOST} login ada password p"w"\n`, 'ada', 'p"w"'],
  ['text after a quoted string', `machine ${HOST} login ada password "p"w\n`, 'ada', 'p'],
  ['a macro', `macdef init\nmachine ${HOST} login bob password no\n\nmachine ${HOST} login ada password pw`, 'ada', 'pw'],
  ['a macro within an entry', `machine ${HOST} login ada macdef x\n bob\n\npassword pw`, 'ada', 'pw'],
  ['an account', `machine ${HOST} login ada account login password pw`, 'ada', 'pw'],
  ['keywords as values', `machine ${HOST} login machine password password`, 'machine', 'password'],
  ['a value given twice', `machine ${HOST} login ada password pw password second`, 'ada', 'pw'],
  ['the first of two entries', `machine ${HOST} login ada password pw\nmachine ${HOST} login bob password no`, 'ada', 'pw'],
  ['an entry without a password before another', `machine ${HOST} login ada\nmachine ${HOST} login bob password pw`, 'bob', 'pw'],
  ['default', 'machine other.example login x password y\ndefault login d password dp', 'd', 'dp'],
  ['default before a machine', `default login d password dp\nmachine ${HOST} login ada password pw`, 'd', 'dp'],
  ['values before the first machine', `login eve password no machine ${HOST} login ada password pw`, 'ada', 'pw'],
  ['a host as the value of another', `machine other login machine password ${HOST}\nmachine ${HOST} login a password pw`, 'a', 'pw'],
  ['a password without a login', `machine ${HOST} password pw`, undefined, 'pw'],
]

describe('a netrc file', () => {
  it.each(ROWS)('a netrc file with %s is read as curl reads it', (_title, text, login, password) => {
    expect(entryFor(text, HOST)).toMatchObject({ ...(login && { login }), ...(password && { password }) })
    const entry = entryFor(text, HOST)
    expect(typeof entry === 'object' && [entry.login, entry.password]).toEqual([login, password])
  })

  it.each([
    ['subdomains', `machine a.${HOST} login ada password pw`],
    ['hosts that end alike', `machine x${HOST} login ada password pw`],
    ['patterns', 'machine * login ada password pw\nmachine *.example login ada password pw'],
    ['nothing', ''],
    ['random bytes', '\0\x01"" machine'],
  ])('a netrc file with %s has no entry for the machine', (_title, text) => {
    expect(entryFor(text, HOST)).toBeUndefined()
  })

  it('a netrc file with a quoted string that has no end is malformed', () => {
    expect(entryFor(`machine ${HOST} login ada password "pw\nmachine b`, HOST)).toBe('malformed')
  })

  it('a netrc file of a megabyte is parsed to its end', () => {
    expect(entryFor(`machine ${HOST} password "${'\\'.repeat(500_001)}`, HOST)).toBe('malformed')
    expect(entryFor(`${'machine a login b '.repeat(50_000)}machine ${HOST} login ada`, HOST)).toMatchObject({ login: 'ada' })
    expect(entryFor(' '.repeat(1_000_000), HOST)).toBeUndefined()
  })
})

describe('the source netrc', () => {
  let home = ''
  const path = () => join(home, '.netrc')
  beforeEach(async () => {
    home = await temporaryFolder()
    vi.stubEnv('HOME', home)
    vi.stubEnv('NETRC', undefined)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  const read = (field: string) => secretSource({ netrc: HOST }, { field }).read()
  const write = (text: string, mode = 0o600) => writeFile(path(), text, { mode })
  const ENTRY = `machine ${HOST} login ada password pw-canary\n`

  it('reads the login for a username, and the password for all other fields', async () => {
    await write(ENTRY)
    expect([await read('username'), await read('password'), await read('token')]).toEqual(['ada', 'pw-canary', 'pw-canary'])
  })

  it('reads the file that NETRC names instead', async () => {
    await write(ENTRY)
    await writeFile(join(home, 'other'), `machine ${HOST} login bob password other`, { mode: 0o600 })
    vi.stubEnv('NETRC', join(home, 'other'))
    expect(await read('username')).toBe('bob')
    vi.stubEnv('NETRC', '~/.netrc')
    expect(await read('username')).toBe('ada')
  })

  it.each([
    ['a relative path in NETRC', async () => vi.stubEnv('NETRC', '.netrc'), 'relative path'],
    ['no file', async () => {}, 'does not exist'],
    ['a folder', async () => vi.stubEnv('NETRC', home), 'is not a regular file'],
    ['a device', async () => symlink('/dev/zero', path()), 'is not a regular file'],
    ['a huge file', async () => write(`${ENTRY}#${'x'.repeat(1_048_576)}`), 'is too large'],
    ['a file that the group can read', async () => write(ENTRY).then(() => chmod(path(), 0o640)), 'is accessible to other users'],
    ['a file that all can read', async () => write(ENTRY).then(() => chmod(path(), 0o604)), 'is accessible to other users'],
    ['a file that all can write', async () => write(ENTRY).then(() => chmod(path(), 0o602)), 'is accessible to other users'],
    ['bytes that are not UTF-8', async () => writeFile(path(), new Uint8Array([0x6d, 0xff]), { mode: 0o600 }), 'not UTF-8'],
    ['a quote without an end', async () => write(`${ENTRY}machine b password "x`), 'is malformed'],
    ['another machine only', async () => write('machine other.example login ada password pw-canary'), `no machine "${HOST}"`],
    ['no password', async () => write(`machine ${HOST} login pw-canary`), `no password for the machine "${HOST}"`],
  ])('with %s is refused as CREDENTIAL_SOURCE, which shows no text of the file', async (_title, prepare, message) => {
    await prepare()
    const failure = await failureOf(read('password'))
    expect(failure).toMatchObject({ code: 'CREDENTIAL_SOURCE', message: expect.stringContaining(message), hint: expect.any(String) })
    expect(JSON.stringify(failure) + String(failure)).not.toContain('canary')
  })

  it('names the command that repairs the mode', async () => {
    await write(ENTRY)
    await chmod(path(), 0o644)
    expect(await failureOf(read('password'))).toMatchObject({ hint: `chmod 600 '${path()}'` })
  })

  it.runIf(process.getuid?.() === 0)('with a link to the file of another user is refused', async () => {
    const theirs = join(home, 'theirs')
    await writeFile(theirs, ENTRY, { mode: 0o600 })
    await chown(theirs, 12_345, 12_345)
    await symlink(theirs, path())
    expect(await failureOf(read('password'))).toMatchObject({ message: expect.stringContaining('belongs to another user') })
  })

  it('with an empty password is refused as CREDENTIAL_VALUE_INVALID', async () => {
    await write(`machine ${HOST} login ada password ""`)
    expect(await failureOf(read('password'))).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID' })
  })

  it('gives user name and password to a credential of the file, once for the machine that it names', async () => {
    await write(`${ENTRY}machine data.example login eve password not-this`)
    const account = { type: 'http', scheme: 'basic', username: { netrc: HOST }, password: { netrc: HOST } }
    const file = { version: 1, credentials: [{ id: 'account', ...account, sendTo: ['https://data.example/'] }] }
    const { credentials } = await credentialsFromText(JSON.stringify(file), 'credentials.json')
    const wire = script()
    await createAuth({ credentials: unchecked(credentials as never), transport: wire.send }).fetch('https://data.example/a')
    expect(wire.sent[0]?.headers.authorization).toBe(`Basic ${btoa('ada:pw-canary')}`)
  })
})
