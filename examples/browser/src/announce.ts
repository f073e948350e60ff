import { byId } from './dom.ts'

/** Says it to everybody: in the corner of the page, and to screen readers. */
export function announce(text: string): void {
  const status = byId('status', HTMLElement)
  status.textContent = text
  status.dataset.shown = String(text !== '')
}
