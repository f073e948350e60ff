/** The catalog browser: one open document at a time, and the credentials of this tab. */
import { AuthError } from 'stac-auth'
import { announce } from './announce.ts'
import { button, byId, element, fill } from './dom.ts'
import { titleOf } from './fields.ts'
import { watchPolicy } from './policy.ts'
import { createReader } from './reader.ts'
import { routed, routeTo } from './route.ts'
import { readSite } from './site.ts'
import { accessViewFor } from './views/access-view.ts'
import { openCredentialsDialog } from './views/credentials-dialog.ts'
import { createDocumentView, type DocumentView } from './views/document-view.ts'
import { failureView } from './views/refusal.ts'
import { startView } from './views/start-view.ts'
import { openWallet } from './wallet.ts'
import { startWorker } from './worker.ts'

watchPolicy()
const site = await readSite()
const wallet = openWallet(site.local)
const reader = createReader(wallet)
const main = byId('content', HTMLElement)
const address = byId('address', HTMLInputElement)
let view: DocumentView | undefined
let reading = new AbortController()

/** Shows what the route says, and takes the focus to its heading unless the page has just been loaded. */
async function show(first: boolean): Promise<void> {
  reading.abort()
  reading = new AbortController()
  const { signal } = reading
  view?.close()
  view = undefined
  const url = routed(location.hash)
  address.value = url ?? ''
  if (url === undefined) {
    document.title = 'Catalog browser'
    fill(main, startView(site, open))
  } else {
    announce('Reading …')
    await showDocument(url, signal)
    if (signal.aborted) return
  }
  if (!first) main.querySelector<HTMLElement>('h1')?.focus()
}

async function showDocument(url: string, signal: AbortSignal): Promise<void> {
  try {
    const read = await reader.read(url, signal)
    if (signal.aborted) return
    view = createDocumentView(read, reader, wallet, site)
    fill(main, view.root)
    document.title = `${titleOf(read.document)} – Catalog browser`
    announce(`${titleOf(read.document)} is open`)
  } catch (error) {
    if (!signal.aborted) await showFailure(error, url)
  }
}

/** Says why, and asks for what is missing where a link says what it needs. */
async function showFailure(error: unknown, url?: string): Promise<void> {
  const { signal } = reading
  const refusal = await failureView(error)
  if (signal.aborted) return
  const heading = element('h1', { tabindex: '-1' }, 'This could not be opened')
  const again = () => void show(false)
  document.title = 'Not opened – Catalog browser'
  fill(
    main,
    element(
      'div',
      { class: 'failed' },
      heading,
      refusal,
      ...(url === undefined ? [] : [accessAfter(error, url, again), element('p', {}, button('Try again', again, { class: 'second' }))]),
    ),
  )
  announce('This could not be opened')
  heading.focus()
}

/** What a protected link needs; when it is there, the document is read again. */
function accessAfter(error: unknown, url: string, again: () => void): HTMLElement | undefined {
  const link = reader.linkTo(url)
  if (!link || link.refs.length === 0) return undefined
  const access = accessViewFor(link, wallet, site)
  access.report(error)
  access.onReady(again)
  return access.root
}

/** The person gave this URL. */
function open(given: string): void {
  const url = new URL(given).href
  const route = routeTo(url)
  if (routed(route) === undefined) {
    reading.abort()
    reading = new AbortController()
    void showFailure(new AuthError('URL_SCHEME_FORBIDDEN', 'the URL of a catalog must begin with https:'))
    return
  }
  wallet.typed(url)
  reader.typed(url)
  if (location.hash === route) void show(false)
  else location.hash = route
}

/** Goes on with a login for which this page went away. */
async function finishLogin(): Promise<void> {
  try {
    const finished = await wallet.logins.finish()
    if (finished) announce(`Logged in with “${finished.credential}”`)
  } catch (error) {
    main.prepend(await failureView(error))
  }
}

function count(): void {
  const { length } = wallet.auth.credentials.list()
  byId('credentials', HTMLElement).textContent = length === 0 ? 'Credentials' : `Credentials (${length})`
}

byId('open', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault()
  open(address.value)
})
byId('credentials', HTMLElement).addEventListener('click', () => openCredentialsDialog(wallet))
window.addEventListener('hashchange', () => void show(false))
// Its own URL would take the place of that of the document.
byId('skip', HTMLElement).addEventListener('click', (event) => {
  event.preventDefault()
  main.focus()
})
wallet.auth.credentials.subscribe(() => {
  count()
  void view?.refresh()
})
count()
await startWorker(site)
await show(true)
await finishLogin()
