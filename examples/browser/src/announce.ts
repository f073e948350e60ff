import { byId } from './dom.ts'

/** Says it to everybody: at the foot of the page, and to screen readers, for which only an open dialog is there. */
export function announce(text: string): void {
  const status = document.querySelector<HTMLElement>('dialog[open] .status') ?? byId('status', HTMLElement)
  status.textContent = text
  // It fades away, and each text does so anew.
  for (const animation of status.getAnimations()) {
    animation.cancel()
    animation.play()
  }
}
