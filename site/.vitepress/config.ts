/** The documentation site. Its pages are put together by `npm run docs` from docs/ and the other Markdown files of the project. */
import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'

/** The same sections as in docs/README.md. */
const { sidebar, version } = JSON.parse(readFileSync(new URL('../dist/sidebar.json', import.meta.url), 'utf8'))

/** Names headings as GitHub does. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

export default defineConfig({
  title: 'stac-auth',
  description: 'Turns the STAC authentication extension into working requests',
  srcDir: 'dist/pages',
  outDir: 'dist/html',
  cacheDir: 'dist/cache',
  srcExclude: ['public/**'],
  // The pages are for GitHub as well: what looks like a tag is text.
  markdown: {
    config: (md) => {
      md.set({ html: false })
      // A column without a name has no heading.

      md.renderer.rules.th_open = (tokens, at, options, _env, self) =>
        tokens[at + 1]?.content === '' ? '<td>' : self.renderToken(tokens, at, options)
      md.renderer.rules.th_close = (tokens, at, options, _env, self) =>
        tokens[at - 1]?.content === '' ? '</td>' : self.renderToken(tokens, at, options)
    },
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  // Pages open from any web server, also without one that knows about names without an extension.
  cleanUrls: false,
  metaChunk: true,
  themeConfig: {
    siteTitle: `stac-auth ${version}`,
    search: { provider: 'local' },
    sidebar,
    outline: [2, 3],
    socialLinks: [],
    nav: [
      { text: 'Start', link: '/publish' },
      { text: 'Guides', link: '/credentials' },
      { text: 'Reference', link: '/json' },
      { text: 'API', link: '/api/modules' },
    ],
  },
  vite: { build: { chunkSizeWarningLimit: 3000 } },
})
