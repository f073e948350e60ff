/** Messages between the tabs and workers of an origin: which credential changed, without any secret. */
import { ownString } from '../stac/document.ts'

/** The kind of change of a credential. */
export type TabMessageKind = (typeof KINDS)[number]

export interface TabMessage {
  /** What changed. */
  readonly kind: TabMessageKind
  /** Id of the credential; empty for `ended`, which is about all. */
  readonly credential: string
}

export interface Tabs {
  send(message: TabMessage): void
  close(): void
}

const KINDS = ['added', 'changed', 'removed', 'login', 'refreshed', 'logout', 'ended'] as const

/** Maximum length of a credential id. */
const MAX_ID = 64

/**
 * Opens the channel of that name and calls `hear` for each message of another tab. Without `BroadcastChannel`, messages are sent through
 * `localStorage`, whose changes other tabs receive as `storage` events; without either, nothing is sent.
 */
export function openTabs(name: string, hear: (message: TabMessage) => void): Tabs {
  const receive = (data: unknown) => {
    const message = messageIn(data)
    if (message) hear(message)
  }
  return typeof BroadcastChannel === 'function' ? byChannel(name, receive) : byStorage(name, receive)
}

function byChannel(name: string, receive: (data: unknown) => void): Tabs {
  const channel = new BroadcastChannel(name)
  channel.onmessage = ({ data }: MessageEvent) => receive(data)
  // On Node an open channel would keep the process running.
  ;(channel as { unref?(): void }).unref?.()
  return {
    send: (message) => channel.postMessage(message),
    close: () => channel.close(),
  }
}

function byStorage(name: string, receive: (data: unknown) => void): Tabs {
  const key = `${name}:message`
  const onStorage = ({ key: changed, newValue }: StorageEvent) => {
    if (changed !== key || newValue === null) return
    try {
      receive(JSON.parse(newValue))
    } catch {
      // Another script of the origin wrote a different value there.
    }
  }
  globalThis.addEventListener?.('storage', onStorage)
  return {
    send: (message) => {
      try {
        // The event is only raised for a changed value.
        localStorage.setItem(key, JSON.stringify({ ...message, at: `${Date.now()} ${Math.random()}` }))
        localStorage.removeItem(key)
      } catch {
        // A page without storage shares nothing with other tabs.
      }
    },
    close: () => globalThis.removeEventListener?.('storage', onStorage),
  }
}

/** Returns a message of the expected shape; `undefined` for any other, which every script of the origin can send. */
function messageIn(data: unknown): TabMessage | undefined {
  const kind = KINDS.find((known) => known === ownString(data, 'kind'))
  const credential = ownString(data, 'credential')
  return kind && credential !== undefined && credential.length <= MAX_ID ? { kind, credential } : undefined
}
