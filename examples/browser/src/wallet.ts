/** The person's credentials in this tab, and the engine that uses them. */
import { type Auth, type CredentialInput, createAuth, isAuthError } from 'stac-auth'
import { createLogins, type Logins, sessionStorageStore } from 'stac-auth/browser'

export interface Wallet {
  /** Changes with every credential: ask for it each time. */
  readonly auth: Auth
  readonly logins: Logins
  readonly credentials: readonly CredentialInput[]
  /** Adds a credential under that name; `persistent` ones, which hold no secret, outlive a reload. */
  add(credential: CredentialInput, name: string, persistent: boolean): string
  /** Forgets the credential and its tokens. */
  remove(id: string): Promise<void>
  /** A URL that the person typed may be on a private network. */
  typed(url: string): void
  readonly named: readonly string[]
  /** Hears that something else can be read now. */
  onChange(listener: () => void): void
}

interface Held {
  readonly credential: CredentialInput
  readonly persistent: boolean
}

const NAME = 'catalog-browser:credentials'

/** The wallet of this tab; `local` are origins that count as typed. */
export async function openWallet(local: readonly string[]): Promise<Wallet> {
  const listeners: (() => void)[] = []
  const tell = () => {
    for (const listener of listeners) listener()
  }
  const session = sessionStorageStore()
  let named = local
  let held = await readable(storedCredentials())
  let engine = engineOf()

  function engineOf(): { readonly auth: Auth; readonly logins: Logins } {
    const auth = createAuth({ credentials: held.map(({ credential }) => credential), typed: named, session, onSession: tell })
    return { auth, logins: createLogins(auth, { callback: '/callback.html', afterLogout: '/' }) }
  }

  function renew(): void {
    engine = engineOf()
    const persistent = held.flatMap(({ credential, persistent }) => (persistent ? [credential] : []))
    try {
      sessionStorage.setItem(NAME, JSON.stringify(persistent))
    } catch {
      // A browser that keeps nothing forgets them with the page.
    }
    tell()
  }

  return {
    get auth() {
      return engine.auth
    },
    get logins() {
      return engine.logins
    },
    get credentials() {
      return held.map(({ credential }) => credential)
    },
    get named() {
      return named
    },
    add(credential, name, persistent) {
      const id = freeId(
        name,
        held.map(({ credential }) => credential.id),
      )
      held = [...held, { credential: { ...credential, id }, persistent }]
      renew()
      return id
    },
    async remove(id) {
      try {
        await engine.logins.logout(id)
      } catch (error) {
        // A credential without tokens has nothing to log out of.
        if (!isAuthError(error)) throw error
      }
      held = held.filter(({ credential }) => credential.id !== id)
      renew()
    },
    typed(url) {
      const { origin } = new URL(url)
      if (named.includes(origin)) return
      named = [...named, origin]
      engine = engineOf()
    },
    onChange: (listener) => listeners.push(listener),
  }
}

function storedCredentials(): readonly CredentialInput[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(NAME) ?? '[]')
    return Array.isArray(kept) ? (kept as readonly CredentialInput[]) : []
  } catch {
    return []
  }
}

/** What was kept, unless somebody has changed it into something else. */
async function readable(credentials: readonly CredentialInput[]): Promise<readonly Held[]> {
  try {
    await createAuth({ credentials }).ready()
    return credentials.map((credential) => ({ credential, persistent: true }))
  } catch {
    return []
  }
}

/** The name that the catalog has for the scheme, as far as it can be one. */
function freeId(name: string, taken: readonly (string | undefined)[]): string {
  const decent = name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 48) || 'credential'
  for (let count = 1; ; count++) {
    const id = count === 1 ? decent : `${decent}-${count}`
    if (!taken.includes(id)) return id
  }
}
