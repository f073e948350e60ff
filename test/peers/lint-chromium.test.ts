/** The linter in a page of a real browser, under a policy that allows nothing but the page's own scripts. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bundle } from '../../scripts/bundle.ts'
import { lintText, type Problem } from '../../src/lint/index.ts'

const CHROMIUM = '/usr/bin/chromium'
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic']
/** Nothing but this machine can be reached. */
const CLOSED = '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1'
const POLICY = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

/** Every document of the fixtures, as text: those that break a rule, those that keep it, and texts that are no JSON. */
const FIXTURES = new URL('../../fixtures/rules/', import.meta.url)
const TEXTS: readonly string[] = readdirSync(FIXTURES).flatMap((name) => {
  const { bad, good, badText, goodText } = JSON.parse(readFileSync(new URL(name, FIXTURES), 'utf8'))
  return [badText ?? bad, goodText ?? good].flatMap((of) =>
    of === undefined ? [] : [typeof of === 'string' ? of : JSON.stringify(of, null, 2)],
  )
})

/** What the page tells: its findings for each text, and what the policy forbade. */
interface Told {
  readonly problems: readonly (readonly Problem[])[]
  readonly violations: readonly string[]
}

const WATCH = `
  globalThis.violations = []
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => violations.push(violatedDirective + ' ' + blockedURI))`

let browser: Browser | undefined
let server: Server
let origin: string

beforeAll(async () => {
  const { eagerText } = await bundle('dist/lint/index.js')
  const page = (more: string) => `import { lintText } from '/lint.js'\n${WATCH}\n${more}`
  const lints = `globalThis.problems = ${JSON.stringify(TEXTS)}.map((text) => lintText(text, { preset: 'strict' }))`
  const files: Record<string, readonly [type: string, text: string]> = {
    '/': ['text/html', '<!doctype html><title>lint</title><script type="module" src="/page.js"></script>'],
    '/careless': ['text/html', '<!doctype html><title>lint</title><script type="module" src="/careless.js"></script>'],
    '/lint.js': ['text/javascript', eagerText],
    '/page.js': ['text/javascript', page(lints)],
    '/careless.js': ['text/javascript', page(`try { new Function('return 1') } catch {}\n${lints}`)],
  }
  server = createServer((request, response) => {
    const [type, text] = files[request.url ?? ''] ?? []
    response.writeHead(type ? 200 : 404, { 'content-type': type ?? 'text/plain', 'content-security-policy': POLICY }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  if (!existsSync(CHROMIUM)) {
    if (process.env.PEERS === 'required') throw new Error(`${CHROMIUM} is missing: install the package chromium`)
    return
  }
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  browser = await chromium.launch({ executablePath: CHROMIUM, args: [...QUIET, ...asRoot, CLOSED] })
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(({ skip }) => {
  if (!browser) skip(`${CHROMIUM} is not installed`)
})

async function told(path: string): Promise<Told> {
  const page = await (await browser?.newContext())?.newPage()
  if (!page) throw new Error('no page')
  await page.goto(origin + path)
  await page.waitForFunction('globalThis.problems !== undefined')
  return page.evaluate('({ problems, violations })')
}

describe('the linter in Chromium', () => {
  it('finds what it finds in Node, and does nothing that the policy forbids', async () => {
    const { problems, violations } = await told('/')
    const expected = TEXTS.map((text) => lintText(text, { preset: 'strict' }))
    expect(expected.flat().length).toBeGreaterThan(TEXTS.length / 2)
    expect(problems).toEqual(JSON.parse(JSON.stringify(expected)))
    expect(violations).toEqual([])
  })

  it('would be told of code that is made from text', async () => {
    const { violations } = await told('/careless')
    expect(violations).toContainEqual(expect.stringMatching(/^(?:script-src|require-trusted-types-for)/))
  })
})
