/** The user's credentials, and the engine that uses them. The library keeps both over reloads and in all tabs. */
import { createLiveAuth, createLogins, indexedDbStore, type LiveAuth, type Logins } from 'stac-auth/browser'

export interface Wallet {
  readonly auth: LiveAuth
  readonly logins: Logins
  /** A URL that the user typed may be on a private network. */
  typed(url: string): void
  readonly named: readonly string[]
}

/** Opens the wallet; `local` are origins that count as typed. */
export function openWallet(local: readonly string[]): Wallet {
  let named = local
  const auth = createLiveAuth({ credentials: [], typed: local, session: indexedDbStore(), anonymous: 'allow' })
  return {
    auth,
    logins: createLogins(auth, { callback: '/callback.html', afterLogout: '/' }),
    get named() {
      return named
    },
    typed(url) {
      auth.credentials.typed(url)
      named = [...new Set([...named, new URL(url).origin])]
    },
  }
}
