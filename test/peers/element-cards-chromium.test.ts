/** The cards of `<stac-auth>` in a real browser: what tells them apart, and what schemes that sign ask for. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnsweringServer } from '../servers/answering-server.ts'
import { useChromium } from './chromium.ts'
import { itemOf, openPage, show, startElementSite } from './element-page.ts'

const browser = useChromium()
let site: AnsweringServer

beforeAll(async () => {
  site = await startElementSite()
}, 60_000)
afterAll(() => site.close())

const DATA = 'https://data.catalog.example/'
const KEY = { type: 'apiKey', in: 'header', name: 'x-api-key' }
const IN_URL = { type: 'apiKey', in: 'query', name: 'key' }
const SIGNED = {
  type: 'signedUrl',
  flows: { authorizationCode: { authorizationApi: 'https://sign.catalog.example/v1', method: 'POST', responseField: 'url' } },
}
const LOGIN = {
  id: 'portal',
  type: 'openIdConnect',
  issuer: 'https://login.catalog.example/',
  clientId: 'page',
  sendTo: ['https://sign.catalog.example/'],
}

const cards = (page: Page) => page.locator('[part="provider"]').filter({ visible: true })
const asked = (page: Page) => page.locator('[part="asked"]').allTextContents()
/** The paragraphs of the question with the URLs below each. */
const question = (page: Page) =>
  page.locator('[part="consent"]').evaluate((form) =>
    [...form.querySelectorAll('p, legend')].map((text) => {
      const list = text.parentElement?.querySelectorAll('code') ?? []
      return [text.textContent, ...[...list].map((one) => one.textContent)]
    }),
  )

describe('two cards with one title', () => {
  const title = 'Key for data.catalog.example'

  it('also have the names of their schemes, for the eye and for screen readers', async () => {
    const { page, complaints } = await openPage(browser(), site)
    const document = itemOf({ [`mine\u202e${'m'.repeat(200)}`]: KEY, '<b>theirs</b>': IN_URL }, {})
    const schemes = Object.keys(document.properties['auth:schemes'])
    Object.assign(document.assets, Object.fromEntries(schemes.map((name) => [name, { href: `${DATA}${name}`, 'auth:refs': [name] }])))
    await show(page, { document })
    const names = [`Name in the catalog: “mine\\u{202e}${'m'.repeat(68)}…”`, 'Name in the catalog: “<b>theirs</b>”']
    expect(await page.locator('[part="name"]').allTextContents()).toEqual(names)
    for (const [at, name] of names.entries()) {
      expect(await cards(page).nth(at).getByRole('heading').textContent()).toBe(title)
      await page.getByRole('listitem', { name: `${title} ${name}` }).waitFor()
    }
    const described = await page.getByRole('button', { name: 'Enter it' }).evaluateAll((all) =>
      all.map((one) => {
        const ids = one.getAttribute('aria-describedby')?.split(' ') ?? []
        return ids.map((id) => (one.getRootNode() as ShadowRoot).getElementById(id)?.textContent).join(' ')
      }),
    )
    expect(described).toEqual(names.map((name) => `${title} ${name}`))
    expect(complaints).toEqual([])
  }, 30_000)

  it('lose the names when only one of them is left', async () => {
    const { page } = await openPage(browser(), site)
    const both = { mine: KEY, theirs: IN_URL }
    await show(page, { document: itemOf(both, { a: [`${DATA}a`, 'mine'], b: [`${DATA}b`, 'theirs'] }) })
    expect(await page.locator('[part="name"]').count()).toBe(2)
    const document = itemOf(both, { a: [`${DATA}a`, 'mine'] })
    await page.evaluate((shown) => Object.assign(elementPage.element ?? {}, { document: shown }), document)
    await page.locator('[part="name"]').first().waitFor({ state: 'detached' })
    expect(await cards(page).count()).toBe(1)
    expect(await page.locator('[part="name"]').count()).toBe(0)
  }, 30_000)
})

describe('a scheme that signs', () => {
  it('with a signing service says that it needs no key, and which host gets the URLs of the files', async () => {
    const { page } = await openPage(browser(), site)
    const settings = { document: itemOf({ signed: SIGNED }, { a: [`${DATA}a`, 'signed'] }) }
    await show(page, { ...settings, properties: { locale: 'de' } })
    expect(await asked(page)).toEqual([
      'Ein Schlüssel ist nicht nötig. Die URLs der Dateien werden an sign.catalog.example gesendet; die Antwort sind signierte URLs. Sie geben an, welche Hosts diese haben dürfen.',
    ])
    await show(page, settings)
    expect(await asked(page)).toEqual([
      'No key is asked for. The URLs of the files are sent to sign.catalog.example, which answers with signed URLs. You name the hosts that these may have.',
    ])
    await page.getByRole('button', { name: 'Enter it' }).click()
    await page.getByRole('textbox', { name: 'Hosts that signed URLs may have' }).fill('https://files.example/')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await question(page)).toEqual([
      ['The URLs of the files are sent to be signed to:', 'https://sign.catalog.example/v1'],
      ['Only URLs of files below these are sent there:', DATA],
    ])
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('Ready', { exact: true }).waitFor()
    expect(await asked(page)).toEqual([])
  }, 30_000)

  it('with a signing service behind a login says which login, and which host gets its token', async () => {
    const { page } = await openPage(browser(), site)
    const { flows, type } = SIGNED
    const credential = { id: 'signer', type, ...flows.authorizationCode, signedUrlHosts: [DATA], with: 'portal', sendTo: [DATA] }
    await show(page, { document: itemOf({ signed: SIGNED }, { a: [`${DATA}a`, 'signed'] }), credentials: [LOGIN, credential] })
    expect(await asked(page)).toEqual([
      'The login portal is asked for. Its token and the URLs of the files are sent to sign.catalog.example, which answers with signed URLs.',
    ])
  }, 30_000)

  it('whose keys come by a login says which login, and which hosts get the signed requests', async () => {
    const { page } = await openPage(browser(), site)
    const stsEndpoint = 'https://sts.catalog.example/'
    const keys = { id: 'keys', type: 's3', stsEndpoint, with: 'portal', sendTo: ['s3://bucket/'] }
    const portal = { ...LOGIN, sendTo: [stsEndpoint] }
    await show(page, { document: itemOf({ s3: { type: 's3' } }, { a: ['s3://bucket/a', 's3'] }), credentials: [portal, keys] })
    expect(await asked(page)).toEqual([
      'The login portal is asked for. With its token this page gets keys, and signs requests for the files with them. These requests are sent to *.amazonaws.com.',
    ])
  }, 30_000)

  it.each([
    ['Amazon', undefined, '*.amazonaws.com', []],
    ['China', { type: 'aws-s3', region: 'cn-north-1' }, '*.amazonaws.com.cn', []],
    ['a store of its own', { type: 'custom-s3', platform: 'https://store.example/' }, 'store.example', ['https://store.example/']],
  ])(
    'for an object store, %s, says which keys, and that the secret one stays',
    async (_name, storage, host, endpoints) => {
      const { page } = await openPage(browser(), site)
      const document = itemOf({ s3: { type: 's3' } }, { a: ['s3://bucket/a', 's3'] })
      Object.assign(document.properties, storage && { 'storage:schemes': { place: storage } })
      if (storage) Object.assign(document.assets.a ?? {}, { 'storage:refs': ['place'] })
      await show(page, { document })
      expect(await asked(page)).toEqual([
        `An access key id and a secret access key are asked for. This page signs requests for the files with them. The id is sent with these requests to ${host}; the secret access key stays in this page.`,
      ])
      await page.getByRole('button', { name: 'Enter it' }).click()
      await page.getByLabel('Access key id', { exact: true }).fill('id')
      await page.getByLabel('Secret access key', { exact: true }).fill('secret')
      await page.getByRole('button', { name: 'Continue' }).click()
      expect(await question(page)).toEqual([
        ...(endpoints.length > 0 ? [['Signed requests are sent to:', ...endpoints]] : []),
        ['Requests are signed for these URLs. The secret itself is not sent:', 's3://bucket/'],
      ])
    },
    30_000,
  )
})

it('a card of files that are never requested says so, and not that something failed', async () => {
  const { page } = await openPage(browser(), site)
  const document = itemOf({ key: KEY }, { a: ['https://ada:secret@data.catalog.example/a', 'key'] })
  expect(await show(page, { document })).toBe('unsupported')
  const reason = page.locator('[part="error"]')
  expect(await reason.locator('p').textContent()).toBe('These files are not requested: see the details.')
  expect(await reason.locator('code').textContent()).toBe('URL_HAS_USERINFO')
  await page.evaluate(() => elementPage.element?.report(new Error('odd')))
  expect(await page.getByRole('alert').locator('p').textContent()).toBe('This did not work.')
}, 30_000)

describe('a page', () => {
  it('shows its own nodes before and after the cards, and those without a slot only until the element is defined', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, { document: itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'] }) })
    const tops = await page.evaluate(() => {
      const node = (slot: string, text: string) => {
        const made = Object.assign(document.createElement('p'), { textContent: text, slot })
        elementPage.element?.append(made)
        return made
      }
      const [before, after, none] = [node('before', 'first'), node('after', 'last'), node('', 'loading')]
      const inside = elementPage.element?.shadowRoot?.querySelector('[part="provider"]')
      return [before, inside, after, none].map((one) => (one?.checkVisibility() ? one.getBoundingClientRect().top : -1))
    })
    const [before = 0, card = 0, after = 0, none] = tops
    expect(before).toBeGreaterThan(0)
    expect(card).toBeGreaterThan(before)
    expect(after).toBeGreaterThan(card)
    expect(none).toBe(-1)
  }, 30_000)

  it('styles the button that goes on and the one that goes back differently', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, { document: itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'] }) })
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync('stac-auth::part(button-primary) { color: rgb(1, 2, 3) } stac-auth::part(button-secondary) { color: rgb(4, 5, 6) }')
      document.adoptedStyleSheets = [sheet]
    })
    const colour = (name: string) => page.getByRole('button', { name }).evaluate((one) => getComputedStyle(one).color)
    await page.getByRole('button', { name: 'Enter it' }).click()
    expect([await colour('Continue'), await colour('Cancel')]).toEqual(['rgb(1, 2, 3)', 'rgb(4, 5, 6)'])
  }, 30_000)
})
