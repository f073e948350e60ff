/** A page without a browser: it refuses what browsers refuse, and remembers where it was sent. */
import type { Page } from '../../src/browser/page.ts'

export interface FakePage extends Page {
  /** Where scripts sent it, in order; it stays where it is. */
  readonly visited: readonly string[]
  /** Windows that it opened. */
  readonly popups: readonly FakePopup[]
  readonly texts: Map<string, string>
  readonly isClosed: () => boolean
  focused: boolean
}

export interface FakePopup {
  closed: boolean
  opener: unknown
  readonly visited: readonly string[]
  readonly location: { href: string }
}

interface Settings {
  /** No window without a click. */
  readonly blocks?: boolean
  /** `setItem` and all others throw, as where storage is switched off. */
  readonly noStorage?: boolean
  readonly texts?: Map<string, string>
}

/** A page at that address. */
export function fakePage(address: string, { blocks = false, noStorage = false, texts = new Map() }: Settings = {}): FakePage {
  const url = new URL(address)
  const visited: string[] = []
  const popups: FakePopup[] = []
  const events = new EventTarget()
  let closed = false
  const go = (to: string | URL) => void visited.push(new URL(to, url).href)
  const location = {
    assign: go,
    replace: go,
    get href() {
      return url.href
    },
    get origin() {
      return url.origin
    },
    get pathname() {
      return url.pathname
    },
    get search() {
      return url.search
    },
    get hash() {
      return url.hash
    },
  }
  const replaceState = (_state: unknown, _title: string, to: string) => {
    const next = new URL(to, url)
    if (next.origin !== url.origin) throw new DOMException('another origin', 'SecurityError')
    url.href = next.href
  }
  const open = () => {
    if (blocks) return null
    const popup = windowOf()
    popups.push(popup)
    return popup
  }
  const page = {
    visited,
    popups,
    texts,
    focused: true,
    isClosed: () => closed,
    open,
    close: () => {
      closed = true
    },
    location,
    history: { state: null, replaceState },
    document: { hasFocus: () => page.focused },
    get sessionStorage() {
      if (noStorage) throw new DOMException('switched off', 'SecurityError')
      return storageOf(texts)
    },
    opener: null,
    addEventListener: events.addEventListener.bind(events),
    removeEventListener: events.removeEventListener.bind(events),
    dispatchEvent: events.dispatchEvent.bind(events),
  }
  return Object.assign(page, { parent: page }) as unknown as FakePage
}

function windowOf(): FakePopup & { readonly close: () => void } {
  const visited: string[] = []
  const popup = {
    closed: false,
    opener: 'the page' as unknown,
    visited,
    close: () => {
      popup.closed = true
    },
    location: {
      href: 'about:blank',
      replace: (to: string) => {
        popup.location.href = to
        visited.push(to)
      },
    },
  }
  return popup
}

function storageOf(texts: Map<string, string>) {
  return {
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => void texts.set(name, text),
    removeItem: (name: string) => void texts.delete(name),
  }
}
