/** Challenges of `WWW-Authenticate` and `Proxy-Authenticate`, and the parameters of `Authentication-Info` (RFC 9110 §11). */

/** One challenge. Names of parameters are lower case; the scheme is as written and compared without case. */
export interface Challenge {
  readonly scheme: string
  readonly token68?: string
  readonly params: ReadonlyMap<string, string>
}

/** What was read, and what had to be left out and why (never with a value). */
export interface Challenges {
  readonly challenges: readonly Challenge[]
  readonly problems: readonly string[]
}
