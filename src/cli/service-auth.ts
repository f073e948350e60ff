import type { Auth } from '../auth/auth.ts'
import { isAuthError, SelectionError } from '../errors.ts'

/** The engine for the commands of one service, whose key may also be in a variable: who has neither is told of both. */
export function serviceAuth(auth: Auth, variable: string): Auth {
  return {
    ...auth,
    service: (base) =>
      auth.service(base).catch((error: unknown) => {
        if (!isAuthError(error) || error.code !== 'NO_CREDENTIAL') throw error
        const hint = `set ${variable}, or ${error.hint ?? 'add an entry to the credential file'}`
        throw new SelectionError(error.code, error.message, { url: base, hint })
      }),
  }
}
