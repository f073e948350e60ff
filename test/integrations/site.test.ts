/** The checks of the documentation site: they must see what a reader would find broken. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { problemsOf } from '../../scripts/site/check-html.ts'
import { sidebarOf } from '../../scripts/site/stage.ts'
import { temporaryFolder } from '../cli/folder.ts'

const folder = await temporaryFolder()

it.each([
  ['page.html', './#install', './#gone'],
  ['page.html', 'index.html#install', 'index.html#gone'],
  ['guides/page.html', '../#install', '../#gone'],
  ['guides/page.html', '/#install', '/#gone'],
])('%s: a link to a heading of the start page is refused where the page has no such heading', async (name, good, bad) => {
  const site = await mkdtemp(join(folder, 'site-'))
  await mkdir(join(site, 'guides'))
  await writeFile(join(site, 'index.html'), '<h2 id="install">Install</h2>')
  await writeFile(join(site, name), `<a href="${good}">Install</a> <a href="${bad}">Gone</a>`)
  expect(problemsOf(site)).toEqual([`${name} links to ${bad}, which has no such heading`])
})

it('a heading of the start page without a list is no section of the sidebar', () => {
  expect(sidebarOf('## Install\n\nText\n\n## Start\n\n- [Publish](publish.md): text\n')).toEqual([
    { text: 'Start', items: [{ text: 'Publish', link: 'publish.md' }] },
  ])
})
