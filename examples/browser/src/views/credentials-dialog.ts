/** The user's credentials: what they are, where they may go, and how to be rid of them. */
import { announce } from '../announce.ts'
import { button, element, fill, refill } from '../dom.ts'
import type { Wallet } from '../wallet.ts'
import { typeWords } from '../words.ts'
import { openDialog } from './dialog.ts'
import { failureView } from './refusal.ts'

/** Opens the list. */
export async function openCredentialsDialog(wallet: Wallet): Promise<void> {
  const place = element('div', { class: 'credentials' })
  const dialog = openDialog(
    'Credentials',
    place,
    element(
      'p',
      { class: 'optional' },
      'Logins, and keys that you keep on this device, last until you log out of everything. Other keys and passwords end with this tab.',
    ),
  )
  const close = dialog.querySelector<HTMLElement>('.close') ?? dialog
  const show = async () => refill(place, close, ...(await credentialViews(wallet, show)))
  await show()
}

async function credentialViews(wallet: Wallet, again: () => Promise<void>): Promise<readonly HTMLElement[]> {
  const credentials = wallet.auth.credentials.list()
  if (credentials.length === 0) return [element('p', {}, 'There are none. Open a protected file, and you are asked for what it needs.')]
  const states = new Map((await wallet.auth.status()).map((status) => [status.credential, status]))
  const views = credentials.map((credential) => {
    const { id, type, sendTo, kept } = credential
    const status = states.get(id)
    const problem = element('div', { role: 'alert' })
    const attempt = (act: () => Promise<void>) => async () => {
      try {
        await act()
        await again()
      } catch (error) {
        fill(problem, await failureView(error))
      }
    }
    return element(
      'section',
      { class: 'credential', 'aria-label': id },
      element('h3', {}, id, ' ', element('span', { class: 'badge type' }, typeWords(type, credential))),
      element('p', {}, 'Goes to ', ...sendTo.map((place) => element('code', {}, place))),
      element('p', {}, kept ? 'Kept on this device' : 'In the memory of this tab', status && `. ${stateWords(status)}`),
      problem,
      element(
        'p',
        { class: 'actions' },
        status?.state === 'valid' &&
          button(
            'Log out',
            attempt(async () => {
              await wallet.logins.logout(id)
              announce(`Logged out of “${id}”`)
            }),
            { class: 'second' },
          ),
        button(
          'Remove',
          attempt(async () => {
            await wallet.auth.credentials.remove(id)
            announce(`Credential “${id}” is gone`)
          }),
          { class: 'quiet' },
        ),
      ),
    )
  })
  const problem = element('div', { role: 'alert' })
  const leave = async () => {
    try {
      await wallet.logins.logoutAll()
      announce('You are logged out of everything')
      await again()
    } catch (error) {
      fill(problem, await failureView(error))
    }
  }
  return [...views, problem, element('p', { class: 'actions' }, button('Log out of everything', leave))]
}

function stateWords({ state, expiresAt, refreshable }: Awaited<ReturnType<Wallet['auth']['status']>>[number]): string {
  if (state === 'none') return 'Not logged in'
  const until = expiresAt === undefined ? '' : ` until ${new Date(expiresAt).toLocaleTimeString()}`
  if (state === 'expired') return refreshable ? 'Refreshed with the next request' : 'The login has ended'
  return `Logged in${until}${refreshable ? ', then refreshed' : ''}`
}
