import { button, element } from '../dom.ts'
import type { SiteSettings } from '../site.ts'

/** What is there before anything was opened. */
export function startView({ samples }: SiteSettings, open: (url: string) => void): HTMLElement {
  return element(
    'div',
    { class: 'start' },
    element('h1', { tabindex: '-1' }, 'Open a catalog'),
    element(
      'p',
      { class: 'lead' },
      'Enter the URL of a STAC catalog, collection, item or API. For protected files you choose which hosts receive your credential; it is sent nowhere else.',
    ),
    samples.length > 0 && element('h2', {}, 'Begin here'),
    samples.length > 0 &&
      element(
        'ul',
        { class: 'samples' },
        ...samples.map(({ title, url, about }) =>
          element(
            'li',
            {},
            button(title, () => open(url), { class: 'sample' }),
            element('span', { class: 'about' }, about),
          ),
        ),
      ),
  )
}
