/** The two ways to log in. */
import { isAuthError } from 'stac-auth'
import { announce } from '../announce.ts'
import { button, element, fill } from '../dom.ts'
import type { Wallet } from '../wallet.ts'
import { openDialog } from './dialog.ts'
import { refusalOf, refusalView } from './refusal.ts'

/** Asks how to log in with that credential; `place` is where, if it is known. */
export function openLoginDialog(credential: string, place: string | undefined, wallet: Wallet): void {
  const problem = element('div', { role: 'alert' })
  const waiting = element('p', { role: 'status', class: 'optional' })
  const abort = new AbortController()
  // The popup must open in the click itself: nothing is awaited before it.
  const popup = button('Log in in a window', async () => {
    fill(problem)
    fill(waiting, 'The login goes on in the other window. Close this dialog to give it up.')
    try {
      await wallet.logins.popup(credential, { signal: abort.signal })
      dialog.close()
      announce(`Logged in with “${credential}”`)
    } catch (error) {
      fill(waiting)
      if (!isAuthError(error) || error.code !== 'ABORTED') fill(problem, refusalView(refusalOf(error)))
    }
  })
  const redirect = button(
    'Log in on this page',
    async () => {
      try {
        await wallet.logins.redirect(credential)
      } catch (error) {
        fill(problem, refusalView(refusalOf(error)))
      }
    },
    { class: 'second' },
  )
  const dialog = openDialog(
    'Log in',
    element(
      'p',
      {},
      place === undefined ? `The credential “${credential}” waits for a login.` : 'You log in at the pages of ',
      place !== undefined && element('code', {}, new URL(place).origin),
      place !== undefined && '. This page never sees your password.',
    ),
    element(
      'p',
      { class: 'optional' },
      'A login on this page leaves it for a moment: keys and passwords that you have typed here are forgotten then.',
    ),
    problem,
    waiting,
    element('p', { class: 'actions' }, popup, redirect),
  )
  dialog.addEventListener('close', () => abort.abort())
}
