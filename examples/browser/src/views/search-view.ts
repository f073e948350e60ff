/** Searches the items of an API, page by page. */
import type { Target } from 'stac-auth'
import { type Access, accessTo, addressOf } from '../access.ts'
import { announce } from '../announce.ts'
import { button, element, fill, pace } from '../dom.ts'
import { footprintOf } from '../footprints.ts'
import type { OpenDocument, Reader } from '../reader.ts'
import { routeTo, searchIn } from '../route.ts'
import { DEFAULT_LIMIT, MOST, type Question, questionIn, questionText, questionUrl, type ResultPage, resultPage } from '../search.ts'
import type { SiteSettings } from '../site.ts'
import type { Wallet } from '../wallet.ts'
import { accessLine } from './access-line.ts'
import type { AccessView } from './access-view.ts'
import { insideOf } from './children-view.ts'
import type { MapView } from './map-view.ts'
import { failureView } from './refusal.ts'

export interface SearchView {
  readonly root: HTMLElement
  refresh(): Promise<void>
  close(): void
}

/** What the view works with. */
interface Surroundings {
  readonly open: OpenDocument
  readonly reader: Reader
  readonly wallet: Wallet
  readonly site: SiteSettings
  readonly map: MapView
  readonly needs: AccessView
}

/** A form, and its results; a question in the route is asked at once. */
export function searchView(link: Target, surroundings: Surroundings): SearchView {
  const { open, reader, wallet, site, map, needs } = surroundings
  const given = searchIn(location.hash)
  const first = given === undefined ? undefined : questionIn(given)
  const form = searchForm(first)
  const state = element('div', { class: 'state' })
  const results = element('div', { class: 'results' })
  let work = new AbortController()

  async function ask(url: string, target: Target, fit: boolean): Promise<void> {
    work.abort()
    work = new AbortController()
    const { signal } = work
    announce('Searching …')
    try {
      const page = resultPage(await reader.list(url, target, open, signal), url)
      if (signal.aborted) return
      show(page)
      void map.show(page.items.map(footprintOf), fit)
    } catch (error) {
      if (signal.aborted) return
      fill(results, await failureView(error))
      needs.report(error)
      announce('The search was refused')
    }
  }

  function show(page: ResultPage): void {
    const heading = element('h3', { tabindex: '-1' }, countWords(page))
    const list = element('ul', { class: 'children' }, ...insideOf(page.document, page.url, reader))
    for (const [index, entry] of [...list.children].entries()) {
      for (const event of ['pointerenter', 'focusin']) entry.addEventListener(event, () => map.mark(index))
      for (const event of ['pointerleave', 'focusout']) entry.addEventListener(event, () => map.mark(undefined))
    }
    const go = (label: string, target: Target | undefined) =>
      target &&
      button(
        label,
        async () => {
          const url = addressOf(target)
          if (url === undefined) return
          await ask(url, besideOf(target, url), false)
          results.querySelector('h3')?.focus()
        },
        { class: 'second' },
      )
    const pages = element('p', { class: 'actions' }, go('Previous page', page.prev) ?? false, go('Next page', page.next) ?? false)
    fill(results, heading, list, pages)
    announce(countWords(page))
  }

  /** A page at the same URL is read by the references of the search, unless it has references of its own. */
  function besideOf(target: Target, url: string): Target {
    const [page, search] = [new URL(url), new URL(addressOf(link) ?? url)]
    const isSame = page.origin === search.origin && page.pathname === search.pathname
    return target.refs.length === 0 && isSame ? link : target
  }

  // The list does the same with the keyboard.
  map.onPick((index) => {
    const entry = results.querySelectorAll('li')[index]
    entry?.querySelector('a')?.focus({ preventScroll: true })
    entry?.scrollIntoView({ block: 'center', behavior: pace() })
  })
  form.root.addEventListener('submit', async (event) => {
    event.preventDefault()
    const question = form.question(map)
    history.replaceState(null, '', routeTo(open.url, questionText(question)))
    await ask(questionUrl(link, question), link, question.box === undefined)
  })
  if (first) {
    void map.show([], first.box ?? false)
    void ask(questionUrl(link, first), link, first.box === undefined)
  }

  async function refresh(): Promise<void> {
    const access = await accessTo(link, wallet, site, 'The search')
    const sendTo = access.ways.flatMap((way) => way.sendTo)
    fill(
      state,
      access.state !== 'open' && accessLine(access),
      wayTo(access, () => needs.goTo(sendTo)),
    )
  }

  return {
    root: element(
      'section',
      { class: 'card search', 'aria-labelledby': 'search' },
      element('h2', { id: 'search' }, 'Search'),
      state,
      form.root,
      results,
    ),
    refresh,
    close: () => work.abort(),
  }
}

function wayTo({ state }: Access, go: () => void): HTMLElement | undefined {
  return state === 'missing' || state === 'login' || state === 'widen' ? element('p', {}, button('Give a credential', go)) : undefined
}

interface SearchForm {
  readonly root: HTMLFormElement
  question(map: MapView): Question
}

function searchForm(first: Question | undefined): SearchForm {
  const field = (label: string, input: HTMLInputElement) =>
    element('div', { class: 'field' }, element('label', { for: input.id }, label), input)
  const from = element('input', { id: 'search-from', type: 'date', value: first?.from })
  const to = element('input', { id: 'search-to', type: 'date', value: first?.to })
  const limit = element('input', {
    id: 'search-limit',
    type: 'number',
    inputmode: 'numeric',
    min: '1',
    max: String(MOST),
    required: true,
    value: String(first?.limit ?? DEFAULT_LIMIT),
  })
  const within = element('input', { id: 'search-within', type: 'checkbox', checked: first?.box !== undefined })
  const root = element(
    'form',
    { class: 'search-form' },
    field('From', from),
    field('To', to),
    field('Items per page', limit),
    element(
      'div',
      { class: 'ask' },
      element('div', { class: 'check' }, within, element('label', { for: within.id }, 'Only where the map is now')),
      element('button', { type: 'submit' }, 'Search'),
    ),
  )
  return {
    root,
    question(map) {
      const box = within.checked ? map.visible() : undefined
      return {
        ...(box && { box }),
        ...(from.value !== '' && { from: from.value }),
        ...(to.value !== '' && { to: to.value }),
        limit: Number(limit.value),
      }
    },
  }
}

/** `10 of 43 items`. */
function countWords({ items, matched }: ResultPage): string {
  const count = `${items.length} ${items.length === 1 ? 'item' : 'items'}`
  if (items.length === 0) return 'No items'
  return matched !== undefined && matched > items.length ? `${items.length} of ${matched.toLocaleString('en')} items` : count
}
