import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type Run, start, startCommand } from './run.ts'

const MAIN = 'examples/demo/main.ts'
const ROW = /^ +(\S+) {2,}(\S.*?\S) {2,}(\S+) {2,}(\d+) +(\d+) +(\d+) +(\d+\.\d)$/

describe('the demo', () => {
  let demo: Run
  let lines: readonly string[]

  beforeAll(async () => {
    demo = start(MAIN)
    await demo.ended
    lines = demo.text().split('\n')
  })

  it('exits 0 when every byte and every refusal is right', async () => {
    expect([await demo.ended, demo.text().includes('everything is right')], demo.text()).toEqual([0, true])
  })

  it('shows what it took to get each file', () => {
    const rows = lines.flatMap((line) => (ROW.exec(line)?.slice(1) ? [ROW.exec(line)?.slice(1, 6)] : []))
    expect(rows).toEqual([
      ['demo/describedby', 'http basic', 'ada', '1', '200'],
      ['files/guide', 'http bearer', 'mission', '1', '200'],
      ['http-basic/data', 'http basic', 'ada', '1', '200'],
      ['http-bearer/data', 'http bearer', 'mission', '1', '200'],
      ['http-digest/data', 'http digest', 'digest', '2', '200'],
      ['http-dpop/data', 'http dpop', 'dpop', '1', '200'],
      ['http-gnap/data', 'http gnap', 'gnap', '1', '200'],
      ['http-hoba/data', 'http hoba', 'hoba', '2', '200'],
      ['http-mutual/data', 'http mutual', 'mutual', '3', '200'],
      ['http-oauth/data', 'http oauth', 'oauth', '1', '200'],
      ['http-privatetoken/data', 'http privatetoken', 'privatetoken', '3', '200'],
      ['http-scram-sha-1/data', 'http scram-sha-1', 'scram-sha-1', '3', '200'],
      ['http-scram-sha-256/data', 'http scram-sha-256', 'scram-sha-256', '3', '200'],
      ['http-vapid/data', 'http vapid', 'vapid', '1', '200'],
      ['http-portal/data', 'http portal', 'portal', '1', '200'],
      ['http-concealed/data', 'http concealed', 'concealed', '1', '200'],
      ['key-header/data', 'apiKey header', 'header-key', '1', '200'],
      ['key-query/data', 'apiKey query', 'query-key', '1', '200'],
      ['key-cookie/data', 'apiKey cookie', 'cookie-key', '1', '200'],
      ['oauth2/data', 'oauth2 clientCredentials', 'client', '2', '200'],
      ['signed-get/data', 'signedUrl GET', 'get-signer', '2', '200'],
      ['signed-post/data', 'signedUrl POST', 'post-signer', '2', '200'],
      ['s3/data', 's3', 'store', '1', '200'],
    ])
  })

  it.each([
    /^ok {6}lint +23 documents, extension 1\.1\.0: 0 errors, 0 warnings/,
    /^ok {6}explain +23 targets, 23 with a usable credential, 0 requests$/,
    /^ok {6}authorize +22 requests, each sent once by a plain fetch: 22 files with the right SHA-256; 1 bound to its connection, not handed out$/,
    /^ok {6}fetch +23 of 23 files with the right SHA-256, \d{7} bytes$/,
    /^ok {6}no credential +23 bare requests, 23 refused with 401, 403 or 404$/,
    /^ok {6}wrong secrets +23 of 23 refused \(20 AUTH_REJECTED, 1 HTTP_404, 2 OAUTH_ERROR\), 0 files given away$/,
    /^ok {6}other host +23 documents: 46 CREDENTIAL_TARGET_UNTRUSTED; the host got 0 connections$/,
    /^ok {6}other endpoint +3 documents: 6 CREDENTIAL_ENDPOINT_UNTRUSTED; the host got 0 connections$/,
    /^ok {6}download +23 of 23 files written with the right SHA-256; the second run made 0 requests$/,
  ])('reports %s', (line) => {
    expect(lines.filter((text) => line.test(text))).toHaveLength(1)
  })

  it('the demo is plain where no one can see colours', () => {
    expect(demo.text()).not.toContain('\u001b')
  })

  it('refuses options that it does not know', async () => {
    const wrong = start(MAIN, '--fast')
    expect([await wrong.ended, wrong.text()]).toEqual([2, 'usage: npm run demo [-- --serve]\n'])
  })
})

describe('with a server that does not check', () => {
  let runs: readonly { name: string; exitCode: number; text: string }[]

  beforeAll(async () => {
    const careless = start('test/demo/careless.ts')
    const code = await careless.ended
    expect(code, careless.text()).toBe(0)
    runs = careless
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  })

  it.each([
    ['files', ['authorize', 'no credential', 'wrong secrets'], 'http-digest/data: the file came instead of AUTH_REJECTED'],
    ['sealed', ['no credential', 'wrong secrets'], 'http-concealed/data: the file came instead of HTTP_404'],
    ['tokens', ['wrong secrets'], 'oauth2/data: the file came instead of OAUTH_ERROR'],
    ['issuer', ['wrong secrets'], 'http-privatetoken/data: the file came instead of AUTH_REJECTED'],
    ['signing', ['wrong secrets'], 'signed-get/data: the file came instead of AUTH_REJECTED'],
    ['blobs', ['no credential'], 'signed-get/data: the bare request got 200'],
    ['s3', ['no credential', 'wrong secrets'], 's3/data: the file came instead of AUTH_REJECTED'],
    ['bytes', ['authorize', 'fetch', 'download'], 'http-basic/data: 200, and the bytes are not those of the file'],
  ])('%s: exits 1 and reports what failed', (name, steps, failure) => {
    const run = runs.find((one) => one.name === name)
    const failed = run?.text.split('\n').flatMap((line) => /^FAILED {2}(\S+(?: \S+)*)/.exec(line)?.[1] ?? [])
    expect([run?.exitCode, failed], run?.text).toEqual([1, steps])
    expect(run?.text).toContain(`! ${failure}\n`)
  })
})

describe('the demo that stays', () => {
  it('lets the command line in, and leaves nothing behind', async () => {
    const demo = start(MAIN, '--serve')
    await vi.waitFor(() => expect(demo.text()).toContain('Ctrl-C'), 120_000)
    const [page = ''] = /http:\S+(?= in a browser)/.exec(demo.text()) ?? []
    const answer = await fetch(page)
    expect([answer.status, answer.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining("script-src 'self'; style-src 'self'"),
    ])
    const [, file = '', ca = ''] = /STAC_AUTH_CREDENTIALS='(.+?)' NODE_EXTRA_CA_CERTS='(.+)'/.exec(demo.text()) ?? []
    const modes = [file, ...readdirSync(dirname(file)).map((name) => join(dirname(file), name))].map((path) => statSync(path).mode & 0o777)
    expect([statSync(dirname(file)).mode & 0o777, ...new Set(modes)]).toEqual([0o700, 0o600])

    const commands = [...demo.text().matchAll(/^node dist\/cli\/bin\.js (.*)$/gm)].map(([, command = '']) =>
      command
        .replace(/ -o \S+$/, '')
        .replace(/ -d \S+$/, ` -d ${join(dirname(file), 'files')}`)
        .split(' '),
    )
    const env = { STAC_AUTH_CREDENTIALS: file, NODE_EXTRA_CA_CERTS: ca }
    const outcomes: [string | undefined, number | string][] = []
    for (const command of commands) outcomes.push([command[0], await startCommand(env, ...command).ended])
    expect(outcomes).toEqual([
      ['lint', 0],
      ['explain', 0],
      ['authorize', 0],
      ['fetch', 0],
      ['download', 0],
      ['fetch', 4],
    ])

    demo.process.kill('SIGINT')
    expect(await demo.ended).toBe(0)
    expect(() => statSync(dirname(file))).toThrow('ENOENT')
  }, 180_000)
})
