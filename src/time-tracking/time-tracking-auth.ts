/** Tokens: made by a login, taken back by a revocation. */
import type { ApiClient } from '../clients/api-client.ts'
import type { CallOptions } from '../clients/call-options.ts'
import { unwrapped } from '../clients/envelope.ts'
import type { Operation } from '../clients/operation.ts'
import { ConfigurationError, ProtocolError } from '../errors.ts'
import { LOGIN_LIMITS } from './once-client.ts'

/** Who logs in. */
export interface LoginInput {
  readonly email: string
  readonly password: string
  readonly accountId: number | bigint | string
}

/** A new token. It works with that User-Agent only; as `token` of a client it brings it along. */
export interface LoginToken {
  readonly token: string
  readonly userAgent: string
  /** As the service writes it. */
  readonly accountId: unknown
}

/** Options of a call that is not repeated once it may have been done; `revoke` is not repeated at all. */
export type OnceOptions = Omit<CallOptions, 'retry' | 'replay' | 'query' | 'extraBody' | 'credential'>

const LOGIN: Operation = {
  ...{ name: 'auth.login', method: 'POST', path: '/auth', body: 'form', replay: 'unsafe', limits: LOGIN_LIMITS },
  secrets: ['password'],
  secretAnswer: true,
}
const REVOKE: Operation = { name: 'auth.revoke', method: 'GET', path: '/auth/revoke', replay: 'unsafe', limits: LOGIN_LIMITS }

export class TimeTrackingAuth {
  readonly #client: ApiClient
  readonly #userAgent: string | undefined

  /** @param userAgent the one that the caller chose; without one there is no login */
  constructor(client: ApiClient, userAgent: string | undefined) {
    this.#client = client
    this.#userAgent = userAgent
  }

  /**
   * A new token for the User-Agent of this client. It is not kept, and the client goes on with its own. The password is forgotten with the
   * call. It waits for a service that has refused it for now (429), and is not sent again after any other failure that came late.
   *
   * Errors: `CONFIG_INVALID` for a client that was given no `userAgent`, `HTTP_401` for a wrong password, `RESPONSE_INVALID` for an
   * answer without a token.
   */
  async login({ email, password, accountId }: LoginInput, options: OnceOptions = {}): Promise<LoginToken> {
    const userAgent = this.#userAgent
    if (userAgent === undefined) {
      const hint = 'give the client a userAgent that every program with this token will use'
      throw new ConfigurationError('CONFIG_INVALID', 'a token is bound to the User-Agent that makes it: userAgent is missing', { hint })
    }
    const body = { email, password, account_id: accountId }
    const answer = unwrapped(await this.#client.withoutCredential().call(LOGIN, { body }, options))
    const { token, account_id } = typeof answer === 'object' && answer !== null ? ({ ...answer } as Record<string, unknown>) : {}
    if (typeof token !== 'string' || token === '')
      throw new ProtocolError('RESPONSE_INVALID', `${this.#client.origin} answered the login without a token`, { url: this.#client.origin })
    return { token, userAgent, accountId: account_id ?? accountId }
  }

  /** Takes the token of this client back. It is asked for once, whatever happens: a second time would be about a token that is gone. */
  async revoke(options: OnceOptions = {}): Promise<void> {
    await this.#client.call(REVOKE, {}, { ...options, retry: false })
  }
}
