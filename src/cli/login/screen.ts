/** What a person sees of a login. Every text of a server is inert, and no browser is opened unasked on another machine. */
import type { DevicePrompt, Interaction } from '../../auth/interaction.ts'
import { loopbackRedirect } from '../../node/loopback-login.ts'
import { openBrowser } from '../../node/open-browser.ts'
import { forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { addressText, plain } from '../trust/inert.ts'

/** How the user wants to log in. */
export interface Screen {
  readonly credential: string
  /** The browser on this machine, even where the provider offers a code to type elsewhere. */
  readonly browser: boolean
  /** Of the redirect URI, in place of the credential's. */
  readonly port?: number | undefined
}

/** The ways to log in that a terminal has: a code to type on any device, unless a browser is wanted, or a browser on this machine. */
export function interactionOn({ io, diagnostics }: Context, { credential, browser, port }: Screen): Interaction {
  const show = async (url: string) => {
    await diagnostics.note(`to log in as "${credential}", open this address in a browser on this machine:\n  ${forLine(url)}`)
    const isRemote = Boolean(io.env.SSH_CONNECTION || io.env.SSH_TTY)
    if ((browser || !isRemote) && (await openBrowser(url, { env: { ...io.env } }))) await diagnostics.note('a browser is being opened')
  }
  const redirect = loopbackRedirect({ show, ...(port !== undefined && { port }) })
  return browser ? { redirect } : { redirect, device: (prompt) => diagnostics.note(deviceText(prompt, Date.now())) }
}

/** Where to go, what to type there, and until when. */
export function deviceText(prompt: DevicePrompt, now: number): string {
  const { credential, verificationUri, userCode, verificationUriComplete, expiresAt } = prompt
  const lines = [
    `to log in as "${plain(credential)}", open this address on any device:`,
    `  ${addressText(verificationUri)}`,
    `and type the code  ${plain(userCode)}`,
  ]
  if (verificationUriComplete !== undefined) lines.push(`or open  ${addressText(verificationUriComplete)}`)
  return [...lines, `this works for ${durationText(expiresAt - now)}`].join('\n')
}

function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 120) return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
  return `${Math.round(seconds / 60)} minutes`
}
