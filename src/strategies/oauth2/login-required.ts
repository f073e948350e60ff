import { CredentialError } from '../../errors.ts'

/** `LOGIN_REQUIRED`: only a person can go on from here, and this version has no login. */
export function loginRequired(id: string): CredentialError {
  return new CredentialError('LOGIN_REQUIRED', `"${id}" needs a login, which this version cannot do`, {
    credential: id,
    hint: 'get an access token from the provider and add it as an entry of type "http", scheme "bearer", with the same sendTo',
  })
}
