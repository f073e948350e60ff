import { chromium } from 'playwright-core'
import { buildPage } from '../examples/browser/build.ts'
import { siteSecrets } from '../examples/demo/site/secrets.ts'
import { startSite } from '../examples/demo/site/start-site.ts'
const keys = siteSecrets()
const files = await buildPage()
let total = 0; for (const [p, f] of files) { total += Buffer.byteLength(f.body); if (process.argv[2] === 'sizes') console.log(p, Buffer.byteLength(f.body)) }
const site = await startSite(files, keys)
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1'] })
for (const scheme of (process.argv[3] ?? 'light,dark').split(',') as ('light'|'dark')[]) for (const [w, h] of [[1280, 800], [390, 844]] as const) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width: w, height: h } })
  context.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning') console.log('CONSOLE', m.text().slice(0, 300), m.location().url) })
  context.on('weberror', (e) => console.log('ERROR', e.error().stack?.slice(0, 400)))
  const page = await context.newPage()
  const shot = async (name: string, fullPage = false) => { await page.waitForTimeout(300); await page.screenshot({ path: `/tmp/page-shots/${name}-${scheme}-${w}.png`, fullPage }) }
  try {
    await page.goto(site.url); await page.waitForSelector('h1'); await page.waitForTimeout(500); await page.waitForSelector('h1')
    await shot('1-start')
    await page.click('text=Meridian archive'); await page.waitForSelector('.children'); await shot('2-catalog')
    await page.goto(`${site.url}#url=${encodeURIComponent(site.catalog.origin + '/scenes/collection.json')}`); await page.waitForSelector('text=Delta'); await page.waitForTimeout(500); await shot('2b-collection')
    await page.click('.children a:text("Lake")'); await page.waitForSelector('.asset .access'); await page.waitForTimeout(600); await shot('3-lake')
    await page.locator('.asset button:text("Give a credential")').first().click(); await page.waitForTimeout(200); await shot('4-dialog')
    for (const box of await page.locator('dialog input[type=checkbox]').all()) await box.check(); await page.click('dialog button[type=submit]'); await page.waitForTimeout(200); await shot('5-login')
    const [popup] = await Promise.all([context.waitForEvent('page'), page.click('dialog button:text("Log in in a window")')])
    await popup.fill('input[name=login]', 'alice'); await popup.fill('input[name=password]', 'x')
    await popup.click('button[type=submit]')
    const gone = popup.waitForEvent('close')
    await popup.click('button[type=submit]'); await gone
    await page.waitForSelector('button:text("Draw on the map")'); await page.click('button:text("Draw on the map")'); await page.waitForSelector('.note'); await page.waitForTimeout(500); await shot('6-lake-open')
    await shot('6-lake-open-full', true)
    await page.click('#credentials'); await page.waitForTimeout(300); await shot('7-credentials'); await page.keyboard.press('Escape')
    await page.goto(`${site.url}#url=${encodeURIComponent(site.catalog.origin + '/suspicious/look-alike.json')}`); await page.waitForSelector('.badge.refused'); await page.waitForTimeout(300); await shot('8-hostile', true)
    await page.goto(`${site.url}#url=${encodeURIComponent(site.catalog.origin + '/suspicious/disguise.json')}`); await page.waitForTimeout(700); await shot('8b-disguise', true)
    await page.goto(`${site.url}#url=${encodeURIComponent(site.catalog.origin + '/models/climate.json')}`); await page.waitForSelector('text=Air temperature'); await page.locator('.asset button:text("Give a credential")').first().click()
    await page.fill('dialog input[type=password]', keys.key); for (const box of await page.locator('dialog input[type=checkbox]').all()) await box.check(); await page.click('dialog button[type=submit]')
    await page.click('button:text("Read the array")'); await page.waitForSelector('figure'); await page.waitForTimeout(300); await shot('9-zarr', true)
    await page.goto(`${site.url}#url=${encodeURIComponent(site.catalog.origin + '/models/fields.json')}`); await page.locator('.asset button:text("Give a credential")').first().click()
    await page.waitForTimeout(200); await shot('10-basic')
    await page.fill('dialog input[autocomplete=username]', keys.username); await page.fill('dialog input[type=password]', keys.password); for (const box of await page.locator('dialog input[type=checkbox]').all()) await box.check(); await page.click('dialog button[type=submit]')
    await page.click('button:text("Read the table")'); await page.waitForSelector('table'); await page.waitForTimeout(300); await shot('11-parquet', true)
    await page.goto(`${site.url}#url=${encodeURIComponent(site.catalog.origin + '/scenes/delta.json')}`); await page.waitForSelector('.picture img'); await shot('12-delta')
  } catch (error) { console.log(scheme, w, String(error).slice(0, 600)); await shot('x-failed', true) }
  await context.close()
}
console.log('evil', site.evil.exchanges.length, 'total', total)
await browser.close(); await site.close()
