import { element } from '../dom.ts'

let count = 0

/** Opens a dialog with a heading; it goes away when it is closed, and the focus returns to where it was, or near that. */
export function openDialog(title: string, ...children: readonly (Node | string | undefined | false)[]): HTMLDialogElement {
  const id = `dialog-${++count}`
  const close = element('button', { type: 'button', class: 'quiet close', 'aria-label': 'Close' }, '×')
  const dialog = element(
    'dialog',
    { 'aria-labelledby': id },
    element('header', {}, element('h2', { id }, title), close),
    element('div', { class: 'content' }, ...children),
    element('p', { class: 'status', role: 'status' }),
  )
  const near = document.activeElement?.closest('.asset')
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => {
    dialog.remove()
    // What opened it may have made room for something else.
    if (document.activeElement === document.body) near?.querySelector('button')?.focus()
  })
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}
