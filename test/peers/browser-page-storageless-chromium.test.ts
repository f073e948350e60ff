/** The example page in a browser that lets sites keep nothing: no storage, no database, no locks, no service workers. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CatalogPage, file, giveCredential, logInWithWindow, openDocument, startCatalogPage } from './catalog-page.ts'
import { startWithoutStorage, useChromium } from './chromium.ts'

const browser = useChromium()

let site: CatalogPage
let folder: string
let context: BrowserContext | undefined
beforeAll(async () => {
  site = await startCatalogPage()
  folder = await mkdtemp(join(tmpdir(), 'stac-auth-'))
})
afterAll(async () => {
  await context?.close()
  await Promise.all([site.close(), rm(folder, { recursive: true, force: true })])
})

it('takes keys and logins all the same, for as long as the page is there', async () => {
  expect(browser().isConnected()).toBe(true)
  context = await startWithoutStorage(folder, new URL(site.url).origin)
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  await page.goto(site.url)
  await page.waitForSelector('h1')
  const denied = page.evaluate(() => sessionStorage.length)
  await expect(denied).rejects.toThrow('Access is denied')

  await openDocument(site, page, 'scenes/coast.json')
  await giveCredential(page, 'visual', { Key: site.secrets.key })
  await file(page, 'visual').getByText('You have one.').waitFor()

  await openDocument(site, page, 'scenes/lake.json')
  await giveCredential(page, 'visual', {})
  await logInWithWindow({ context, page, complaints: [] })
  await file(page, 'visual').getByText('You are logged in.').waitFor()
  await file(page, 'visual').getByRole('button', { name: 'Draw on the map' }).click()
  await file(page, 'visual').getByText('On the map:').waitFor()
  expect(errors).toEqual([])
}, 90_000)
