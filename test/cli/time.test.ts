import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KNOWN } from '../servers/time-tracking/options.ts'
import { startTimeTrackingFake, type TimeTrackingFake } from '../servers/time-tracking/time-tracking-fake.ts'
import { put, temporaryFolder } from './folder.ts'
import { lastError, run } from './run.ts'

const folder = await temporaryFolder()
let service: TimeTrackingFake
beforeEach(async () => {
  service = await startTimeTrackingFake({ insecure: true })
})
afterEach(() => service.close())

const env = (more: Readonly<Record<string, string>> = {}) => ({
  ...{ STAC_AUTH_TIME_URL: service.base, STAC_AUTH_TIME_TOKEN: KNOWN.token, STAC_AUTH_TIME_USER_AGENT: KNOWN.userAgent },
  ...more,
})
const time = (words: string, ...more: readonly string[]) => run(['time', ...words.split(' '), '--allow-insecure', ...more], { env: env() })

describe('time projects', () => {
  it('time projects are listed, read, made, changed and deleted', async () => {
    expect(await time('projects list')).toMatchObject({ code: 0, stdout: '60  Website  active  ACME\n61  Süd & Ost  active\n', stderr: '' })
    const one = await time('projects get 60')
    expect(one.stdout).toContain('name: Website\n')
    expect(one.stdout).toContain('billable: 1\n')
    const made = await time('projects create', '--name', 'New one', '--set', 'rate=12.50', '--set', 'billable=1', '--json')
    expect(JSON.parse(made.stdout)).toMatchObject({ id: 100, name: 'New one', rate: 12.5, billable: 1 })
    expect(made.stderr).toBe('')
    expect(service.log.at(-1)?.body).toBe('name=New%20one&rate=12.50&billable=1')
    expect(JSON.parse((await time('projects update 100', '--set', 'rate=', '--json')).stdout)).toMatchObject({ rate: null })
    expect(await time('projects delete 100')).toMatchObject({ code: 0, stdout: '', stderr: 'deleted\n' })
    expect(await time('projects delete 61', '--json')).toMatchObject({ code: 0, stdout: 'null\n' })
    expect(JSON.parse((await time('projects list', '--json')).stdout)).toMatchObject([{ id: 60, date_created: '2026-06-01T12:00:00+0000' }])
    service.assertClean()
  })

  it('time projects show untrusted text with control characters escaped', async () => {
    service.state.collections.get('projects')?.set('60', { id: 60, name: 'a\u001b[2J\nb', active: true })
    const { stdout } = await time('projects list')
    expect(stdout.split('\n')[0]).toBe('60  a\\u{1b}[2J\\u{a}b  active')
    expect((await time('projects list', '--json')).stdout).not.toContain('\u001b')
  })

  it('time projects follow links to further pages, up to --limit', async () => {
    Object.assign(service.state.switches, { paging: 'link', pageSize: 1 })
    expect(await time('projects list')).toMatchObject({ code: 0, stdout: '60  Website  active  ACME\n61  Süd & Ost  active\n', stderr: '' })
    expect(JSON.parse((await time('projects list', '--json', '--limit', '1')).stdout)).toHaveLength(1)
    expect(service.requests()).toBe(3)
    await time('projects list', '--query', 'per_page=2')
    expect([service.log.at(-1)?.rawUrl, service.requests()]).toEqual(['/v1/projects?per_page=2', 4])
    service.assertClean()
  })

  it.each([
    ['foreign', 'RESPONSE_INVALID'],
    ['loop', 'PAGE_LOOP'],
  ] as const)('print what they have before a link that is %s, and send nothing there', async (link, code) => {
    Object.assign(service.state.switches, { paging: 'link', pageSize: 1, link })
    const outcome = await time('projects list', '--json')
    expect([outcome.code, lastError(outcome).code]).toEqual([5, code])
    expect(JSON.parse(outcome.stdout)[0]).toMatchObject({ id: 60 })
  })

  it('say which option is missing where pages are named in another way', async () => {
    Object.assign(service.state.switches, { paging: 'cursor', pageSize: 1 })
    const outcome = await time('projects list')
    expect(outcome).toMatchObject({
      code: 5,
      stdout: '60  Website  active  ACME\n',
      stderr: expect.stringContaining('  say in a file for --profile how lists are paged'),
    })
    const profile = await put(folder, 'cursor.json', {
      paging: { style: 'cursor', cursor: '/next', parameter: 'cursor', size: 'per_page' },
    })
    expect(await time('projects list', '--profile', profile, '--page-size', '1')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('61  '),
    })
  })
})

describe('a profile', () => {
  const reply = (status: number, body: unknown) =>
    service.script({ match: {}, do: { status, body, headers: { 'content-type': 'application/json' } } })

  it('names further collections, whose ids are any text', async () => {
    const profile = await put(folder, 'profile.json', { collections: { entries: 'time/entries' }, envelope: { member: 'rows' } })
    reply(200, { rows: [{ id: 'a-1', hours: '1.5', project: { id: 60 }, note: 'Sea\nice' }], page: 1 })
    expect(await time('entries list', '--profile', profile)).toMatchObject({ code: 0, stdout: 'a-1  1.5  Sea\\u{a}ice\n' })
    reply(200, { rows: { id: 'a-1', hours: '1.5' } })
    expect(await time('entries get a-1', '--profile', profile)).toMatchObject({ code: 0, stdout: 'id: a-1\nhours: 1.5\n' })
    expect(service.log.map(({ path }) => path)).toEqual(['/v1/time/entries', '/v1/time/entries/a-1'])
  })

  it.each([
    ['entries', '[]', 'is not a JSON object'],
    ['entries', '{"collection":["entries"]}', 'has an unknown member "collection"'],
    ['entrys', '{"collections":["entries"]}', 'has no collection "entrys"'],
    ['entries', '{"collections":["entries"],"paging":{"style":"cursor"}}', 'has an invalid "paging"'],
    [
      'entries',
      '{"collections":["entries"],"paging":{"style":"cursor","cursor":"/n","parameter":"c","explicitend":true}}',
      'an invalid "paging"',
    ],
    ['entries', '{"collections":["entries"],"paging":{"style":"page","page":"p","start":2}}', 'an invalid "paging"'],
    ['entries', '{"collections":["entries"],"form":{"arrays":"commas"}}', 'has an invalid "form"'],
    ['entries', '{"collections":["entries"],"replay":{"creat":"idem"}}', 'has an invalid "replay"'],
    ['entries', '{"collections":["entries"],"envelope":"rows"}', 'has an invalid "envelope"'],
    ['entries', '{"collections":[7]}', 'must have "collections"'],
  ])('%s in %s is refused before anything is sent', async (name, text, why) => {
    const profile = await put(folder, 'wrong.json', text)
    const outcome = await time(`${name} list`, '--profile', profile, '--json')
    expect([outcome.code, lastError(outcome).message]).toEqual([2, expect.stringContaining(why)])
    expect(service.requests()).toBe(0)
  })

  it('is needed for other collections, and for --page-size', async () => {
    expect(await time('entries list')).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown command "entries"') })
    expect(await time('projects list', '--page-size', '5')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--query NAME=VALUE'),
    })
  })
})

describe('time customers', () => {
  it('time customers are renamed', async () => {
    expect(await time('customers update 121', '--name', 'ACME INC.')).toMatchObject({ code: 0, stdout: 'id: 121\nname: ACME INC.\n' })
    expect(await time('customers get 121')).toMatchObject({ code: 5, stdout: '' })
  })
})

describe('exit codes', () => {
  it.each([
    ['customers update', [], 'USAGE'],
    ['customers update 121', [], 'USAGE'],
    ['customers update 121', ['--set', 'name'], 'USAGE'],
    ['customers update 121', ['--name', 'a', '--set', 'name=b'], 'USAGE'],
    ['customers update abc', ['--name', 'a'], 'REQUEST_INVALID'],
    ['projects get ../auth', [], 'REQUEST_INVALID'],
    ['projects list', ['--base-url', 'https://host.example/v2'], 'CONFIG_INVALID'],
    ['projects list', ['--auth-header', 'cookie'], 'USAGE'],
    ['projects list', ['--token', 'a'], 'USAGE'],
  ])('2 for %s %j', async (words, more, code) => {
    const outcome = await time(words, ...more, '--json')
    expect([outcome.code, lastError(outcome).code, service.requests()]).toEqual([2, code, 0])
  })

  it('2 without a service', async () => {
    const outcome = await run(['time', 'projects', 'list'], { env: {} })
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining('STAC_AUTH_TIME_URL') })
  })

  it('2 for a URL with another version, with the option that accepts it', async () => {
    const outcome = await time('projects list', '--base-url', 'https://host.example/api/v2', '--json')
    expect(lastError(outcome)).toMatchObject({ code: 'CONFIG_INVALID', hint: 'give --api-version v2' })
  })

  it('4 for http, before a credential file is read', async () => {
    const path = await put(folder, 'broken.json', '{')
    const argv = ['time', 'projects', 'list', '--base-url', 'http://host.example/v1', '--credentials', path, '--allow-insecure', '--json']
    const outcome = await run(argv)
    expect([outcome.code, lastError(outcome).code]).toEqual([4, 'URL_INSECURE'])
    expect(lastError(outcome).hint).toContain('--allow-insecure')
    expect((await run(['time', 'projects', 'list'], { env: env() })).code).toBe(4)
    expect(service.requests()).toBe(0)
  })

  it('3 for a wrong token, 5 for what is not there, and neither shows the token', async () => {
    const wrong = await run(['time', 'projects', 'list', '--allow-insecure', '--json'], {
      env: env({ STAC_AUTH_TIME_TOKEN: 'wrong-7f3a9c' }),
    })
    expect([wrong.code, lastError(wrong).code]).toEqual([3, 'HTTP_401'])
    const missing = await time('projects get 999')
    expect(missing).toMatchObject({ code: 5, stderr: expect.stringContaining('There is no 999 in projects') })
    for (const { stdout, stderr } of [wrong, missing]) expect(stdout + stderr).not.toMatch(/7f3a9c|5f0c2a/)
  })
})

describe('the credential', () => {
  it('is named by its header in the log, without its value', async () => {
    const { stderr } = await time('projects list', '--verbose')
    expect(stderr).toMatch(/^debug GET \S+\/v1\/projects 200 \d+ ms: credential in the header "authorization"\n$/)
  })

  it('the credential may be a credential for that URL', async () => {
    const entry = { id: 'tt', type: 'http', scheme: 'bearer', token: { env: 'STAC_AUTH_TEST_TIME' }, sendTo: [`${service.url}/`] }
    const credentials = await put(folder, 'time.json', { version: 1, credentials: [entry] })
    process.env.STAC_AUTH_TEST_TIME = KNOWN.token
    const argv = ['time', 'projects', 'list', '--base-url', service.base, '--user-agent', KNOWN.userAgent, '--credentials', credentials]
    const outcome = await run([...argv, '--allow-insecure'])
    delete process.env.STAC_AUTH_TEST_TIME
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    service.assertClean()
  })

  it('a missing credential is exit code 3', async () => {
    const credentials = await put(folder, 'none.json', { version: 1, credentials: [] })
    const argv = ['time', 'projects', 'list', '--base-url', service.base, '--credentials', credentials, '--allow-insecure', '--json']
    const outcome = await run(argv)
    expect(outcome.code).toBe(3)
    expect(lastError(outcome)).toMatchObject({
      code: 'NO_CREDENTIAL',
      hint: expect.stringMatching(/^set STAC_AUTH_TIME_TOKEN, or run stac-auth credentials trust ID http:\/\/127\.0\.0\.1:\d+\/ /),
    })
  })

  it('the credential is placed in the header that is chosen', async () => {
    const other = await startTimeTrackingFake({ insecure: true, tokenField: 'x-api-token' })
    const around = { env: env({ STAC_AUTH_TIME_URL: other.base }) }
    expect((await run(['time', 'projects', 'list', '--allow-insecure', '--auth-header', 'x-api-token'], around)).code).toBe(0)
    other.assertClean()
    await other.close()
  })
})
