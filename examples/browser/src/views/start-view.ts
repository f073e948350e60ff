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
      'Give the address of a STAC catalog, collection, item or API. Protected files say what they need; you say which host may have it, and nothing goes anywhere else.',
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
