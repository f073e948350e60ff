/** `<stac-auth>` as screen readers get it: the accessibility tree of Chromium, what is announced, the order of the focus, and no reload. */
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnsweringServer } from '../servers/answering-server.ts'
import type { AuthorizationServer } from '../servers/authorization-server.ts'
import { useChromium } from './chromium.ts'
import type { Settings } from './element-in-page.ts'
import { itemOf, openPage, show, startElementSite } from './element-page.ts'
import { agree, startProviderFor } from './login-site.ts'

const browser = useChromium()
let site: AnsweringServer
let provider: AuthorizationServer

beforeAll(async () => {
  site = await startElementSite()
  provider = await startProviderFor(site)
}, 60_000)
afterAll(() => Promise.all([site.close(), provider.close()]))

const DATA = 'https://data.catalog.example/'
const KEY = { type: 'apiKey', in: 'header', name: 'x-api-key' }
const BASIC = { type: 'http', scheme: 'basic' }
const SIGNED = {
  type: 'signedUrl',
  flows: { authorizationCode: { authorizationApi: 'https://sign.catalog.example/', method: 'POST', responseField: 'url' } },
}
const KEYS: Settings = {
  document: itemOf(
    { key: KEY, basic: BASIC },
    { a: [`${DATA}a`, 'key'], b: ['https://tiles.catalog.example/b', 'key'], c: [`${DATA}c`, 'basic'] },
  ),
}
const SIGNER: Settings = { document: itemOf({ signed: SIGNED }, { a: [`${DATA}a`, 'signed'] }) }

interface Spoken {
  readonly role: string
  readonly name: string
  readonly description?: string
  readonly [property: string]: unknown
}

/** What only groups or repeats others. */
const SILENT = ['InlineTextBox', 'LabelText', 'Legend', 'RootWebArea', 'StaticText', 'code', 'generic', 'paragraph', 'strong']
const PROPERTIES = ['level', 'live', 'focused', 'required', 'expanded']

/** The nodes of the tree in the order in which they are read. */
async function spoken(page: Page): Promise<readonly Spoken[]> {
  const session: CDPSession = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  const children = new Map(nodes.map(({ nodeId, childIds = [] }) => [nodeId, childIds]))
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const inOrder = (id: string): readonly string[] => [id, ...(children.get(id) ?? []).flatMap(inOrder)]
  return inOrder(nodes[0]?.nodeId ?? '').flatMap((id) => {
    const node = byId.get(id)
    const role = String(node?.role?.value)
    if (!node || node.ignored || SILENT.includes(role)) return []
    const texts = inOrder(id).flatMap((below) =>
      byId.get(below)?.role?.value === 'StaticText' ? [String(byId.get(below)?.name?.value)] : [],
    )
    const properties = (node.properties ?? []).filter(({ name, value }) => PROPERTIES.includes(name) && value.value !== false)
    return {
      role,
      // A live region is read by its text.
      name: String(node.name?.value || (role === 'status' || role === 'alert' ? texts.join(' ') : '')),
      ...(node.description?.value && { description: String(node.description.value) }),
      ...Object.fromEntries(properties.map(({ name, value }) => [name, value.value])),
    }
  })
}

const ofRole = async (page: Page, ...roles: readonly string[]) => (await spoken(page)).filter(({ role }) => roles.includes(role))
const live = (page: Page) =>
  ofRole(page, 'status', 'alert').then((all) => all.filter(({ name }) => name !== '').map(({ live: how, name }) => [how, name]))

describe('the accessibility tree', () => {
  const key = 'Key for data.catalog.example and tiles.catalog.example'
  const password = 'User name and password for data.catalog.example'

  it('has headings, a list of cards, and buttons that are told apart by their descriptions', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, KEYS)
    expect(await spoken(page)).toEqual([
      { role: 'main', name: '' },
      { role: 'heading', name: 'Catalog', level: 1 },
      { role: 'group', name: 'Access' },
      { role: 'heading', name: 'Access', level: 2 },
      { role: 'status', name: 'Some files need a credential.', live: 'polite' },
      ...[key, password].flatMap((name) => [
        { role: 'list', name: '' },
        { role: 'listitem', name, level: 1 },
        { role: 'heading', name, level: 3 },
        { role: 'button', name: 'Enter it', description: name },
        { role: 'group', name: '' },
        { role: 'DisclosureTriangle', name: 'Details', description: name },
      ]),
      { role: 'status', name: '', live: 'polite' },
    ])
  }, 30_000)

  it('names fields and their hints, the form and its question, and the choice of hosts', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, SIGNER)
    await page.getByRole('button', { name: 'Enter it' }).click()
    expect(await ofRole(page, 'form', 'textbox')).toEqual([
      { role: 'form', name: 'URLs signed by sign.catalog.example' },
      {
        role: 'textbox',
        name: 'Hosts that signed URLs may have',
        description: 'Separate several values with spaces.',
        required: true,
        focused: true,
      },
    ])
    await show(page, KEYS)
    await page.getByRole('button', { name: 'Enter it' }).first().click()
    await page.keyboard.type('secret')
    await page.keyboard.press('Enter')
    await page.getByText('Where may it be sent?').waitFor()
    const first = (await spoken(page)).findIndex(({ role }) => role === 'form')
    expect((await spoken(page)).slice(first, first + 5)).toEqual([
      { role: 'form', name: `${key} Where may it be sent?` },
      { role: 'heading', name: 'Where may it be sent?', level: 4, focused: true },
      { role: 'group', name: 'What you typed is sent with requests to:' },
      { role: 'checkbox', name: DATA },
      { role: 'checkbox', name: 'https://tiles.catalog.example/' },
    ])
    await page.getByRole('button', { name: 'Allow' }).click()
    expect((await ofRole(page, 'group')).find(({ name }) => name.startsWith('What'))?.description).toBe('Select at least one.')
  }, 30_000)
})

describe('a live region', () => {
  it('says an error at once, and a success when there is time', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, SIGNER)
    expect(await live(page)).toEqual([['polite', 'Some files need a credential.']])
    await page.getByRole('button', { name: 'Enter it' }).click()
    const hosts = page.getByRole('textbox', { name: 'Hosts that signed URLs may have' })
    await hosts.fill('https://*.example/')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await live(page)).toContainEqual(['assertive', 'A value is not valid. Details'])
    expect((await spoken(page)).find(({ focused }) => focused)?.name).toBe('Hosts that signed URLs may have')
    await hosts.fill('https://files.example/')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('Ready', { exact: true }).waitFor()
    expect(await live(page)).toEqual([
      ['polite', 'Nothing is missing.'],
      ['polite', 'The credential was added.'],
    ])
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Needed', { exact: true }).waitFor()
    expect(await live(page)).toEqual([
      ['polite', 'Some files need a credential.'],
      ['polite', 'The credential was removed.'],
    ])
  }, 30_000)

  it('says nothing in the language of before when the language changes, and no name stays in it', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, { ...KEYS, credentials: [{ id: 'mine', ...KEY, value: 'typed', sendTo: [DATA] }] as never })
    await page.getByRole('button', { name: 'Allow further hosts…' }).click()
    await page.getByRole('button', { name: 'Allow' }).click()
    await expect.poll(() => live(page)).toContainEqual(['polite', 'The hosts were allowed.'])
    await page.evaluate(() => Object.assign(elementPage.element ?? {}, { locale: 'de' }))
    await page.getByRole('button', { name: 'Eingeben' }).waitFor()
    expect(await live(page)).toEqual([['polite', 'Einige Dateien verlangen Zugangsdaten.']])
    const names = (await spoken(page)).flatMap(({ name, description = '' }) => [name, description])
    expect(names).toContain('Benutzername und Passwort für data.catalog.example')
    expect(names.filter((name) => /\b(?:access|details|enter|for|key|needed)\b/i.test(name))).toEqual([])
  }, 30_000)
})

it('the focus goes through the controls in the order in which they are read, and back', async () => {
  const { page } = await openPage(browser(), site)
  await show(page, KEYS)
  await page.getByRole('button', { name: 'Enter it' }).last().click()
  const controls = (await ofRole(page, 'button', 'textbox', 'DisclosureTriangle')).map(({ role, name }) => [role, name])
  expect(controls.map(([, name]) => name)).toEqual(['Enter it', 'Details', 'User name', 'Password', 'Continue', 'Cancel', 'Details'])
  const walked = async (press: string) => {
    const seen: (readonly unknown[])[] = []
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    await page.locator('h1').evaluate((heading) => Object.assign(heading, { tabIndex: -1 }).focus())
    if (press === 'Shift+Tab') {
      await page.evaluate(() => {
        const end = Object.assign(document.createElement('a'), { href: '#', id: 'end' })
        document.querySelector('main')?.append(end)
        end.focus()
      })
    }
    for (const _ of controls) {
      await page.keyboard.press(press)
      const focused = (await spoken(page)).filter((one) => one.focused).at(-1)
      seen.push([focused?.role, focused?.name])
    }
    return seen
  }
  expect(await walked('Tab')).toEqual(controls)
  expect(await walked('Shift+Tab')).toEqual([...controls].reverse())
}, 30_000)

it('no flow reloads the page or submits a form', async () => {
  const { page, complaints } = await openPage(browser(), site)
  const moves: string[] = []
  page.on('framenavigated', (frame) => moves.push(frame.url()))
  page.on('request', (request) => request.isNavigationRequest() && request.frame().page() === page && moves.push(request.url()))
  await page.evaluate(() => Object.assign(globalThis, { stays: true }))
  const press = (name: string) => page.getByRole('button', { name }).first().click()
  // A key: left, typed with nothing, typed, not allowed, back, typed again, allowed for one host, allowed for the other, removed.
  await show(page, KEYS)
  await press('Enter it')
  await press('Cancel')
  await press('Enter it')
  await page.keyboard.press('Enter')
  await page.keyboard.type('secret')
  await page.keyboard.press('Enter')
  await press('Allow')
  await page.keyboard.press('Enter')
  await press('Back')
  await page.keyboard.type('secret')
  await page.keyboard.press('Enter')
  await page.getByRole('checkbox').first().check()
  await page.keyboard.press('Enter')
  await press('Allow further hosts…')
  await press('Back')
  await press('Allow further hosts…')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('The hosts were allowed.').waitFor({ state: 'attached' })
  await press('Remove')
  await page.getByText('The credential was removed.').waitFor({ state: 'attached' })
  // A wrong value, with all settings open: each kind of field.
  await show(page, SIGNER)
  await press('Enter it')
  await page.getByText('More settings').click()
  await page.getByLabel('Hosts that signed URLs may have').fill('https://*.example/')
  for (const field of await page.locator('[part="input"]').all()) {
    await field.focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
  }
  await page.getByRole('alert').waitFor()
  // A login in a window: given up, made, ended.
  const scheme = { type: 'openIdConnect', openIdConnectUrl: `${provider.issuer}/.well-known/openid-configuration` }
  await show(page, {
    document: itemOf({ login: scheme }, { a: [provider.resource, 'login'] }),
    properties: { typed: [provider.issuer], clients: [{ issuer: provider.issuer, clientId: 'page', scopes: ['read'] }] },
  })
  await press('Continue')
  await press('Allow')
  const [left] = await Promise.all([page.context().waitForEvent('page'), press('Log in in a window')])
  await press('Cancel')
  await left.close()
  const [popup] = await Promise.all([page.context().waitForEvent('page'), press('Log in in a window')])
  await agree(popup)
  await press('Log out')
  await page.getByText('You are logged out.').waitFor({ state: 'attached' })
  expect(await page.evaluate(() => Reflect.get(globalThis, 'stays'))).toBe(true)
  expect(moves).toEqual([])
  expect(complaints).toEqual([])
}, 60_000)
