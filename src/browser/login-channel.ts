/**
 * How the callback page in a popup and the page that waits for it find each other. The name of the channel holds the state of the
 * login, so that other logins, other copies of the library and strangers hear nothing of it; it works where the provider's pages cut
 * the tie between the windows (`Cross-Origin-Opener-Policy`).
 */
import type { LoginAnswer } from './login-answer.ts'
import type { Page } from './page.ts'

type Message = { readonly type: 'stac-auth login'; readonly state: string } & ({ readonly answer: string } | { readonly taken: true })

/** Hears the address of an answer; true takes it. */
export type TakeAnswer = (address: string) => boolean

/** Listens until `close`; what `take` does not take stays without a reply. */
export function awaitAnswer(page: Page, state: string, take: TakeAnswer): { close(): void } {
  const { origin } = page.location
  const channel = new BroadcastChannel(nameOf(state))
  const hear = (data: unknown, reply: (message: Message) => void) => {
    const address = messageOf(data, state)?.answer
    if (typeof address === 'string' && take(address)) reply({ type: TYPE, state, taken: true })
  }
  channel.onmessage = ({ data }) => hear(data, (message) => channel.postMessage(message))
  // A frame has storage and channels of its own where its site is not that of the window: its popup speaks to it directly.
  const direct = (event: MessageEvent) => {
    if (event.origin === origin) hear(event.data, (message) => event.source?.postMessage(message, { targetOrigin: origin }))
  }
  page.addEventListener('message', direct)
  return {
    close() {
      channel.close()
      page.removeEventListener('message', direct)
    },
  }
}

/** Tells whoever waits for the answer; true when it was taken within that many milliseconds. */
export async function deliverAnswer(page: Page, { url, state }: LoginAnswer, patience: number): Promise<boolean> {
  const { origin } = page.location
  const channel = new BroadcastChannel(nameOf(state))
  let direct: ((event: MessageEvent) => void) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise<boolean>((resolve) => {
      const hear = (data: unknown) => messageOf(data, state)?.taken === true && resolve(true)
      channel.onmessage = ({ data }) => hear(data)
      direct = (event) => event.origin === origin && hear(event.data)
      page.addEventListener('message', direct)
      timer = setTimeout(resolve, patience, false)
      const message: Message = { type: TYPE, state, answer: url }
      channel.postMessage(message)
      const opener: Pick<Window, 'postMessage'> | null = page.opener
      opener?.postMessage(message, origin)
    })
  } finally {
    clearTimeout(timer)
    channel.close()
    if (direct) page.removeEventListener('message', direct)
  }
}

const TYPE = 'stac-auth login'

function nameOf(state: string): string {
  return `stac-auth login ${state}`
}

function messageOf(data: unknown, state: string): { readonly answer?: unknown; readonly taken?: unknown } | undefined {
  const message = (typeof data === 'object' && data !== null ? data : {}) as Readonly<Record<string, unknown>>
  return message.type === TYPE && message.state === state ? message : undefined
}
