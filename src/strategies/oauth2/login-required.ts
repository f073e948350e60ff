import { CredentialError } from '../../errors.ts'

/** `LOGIN_REQUIRED`: only a person can go on from here. */
export function loginRequired({ id }: { readonly id: string }): CredentialError {
  return new CredentialError('LOGIN_REQUIRED', `"${id}" needs a login`, {
    credential: id,
    hint: `stac-auth login ${id}; in code, auth.login("${id}", …); or add a finished token as an entry of type "http", scheme "bearer"`,
  })
}
