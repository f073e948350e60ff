/** What help texts and manual pages say about all commands: exit codes and variables. */

/** Exit codes and what they mean. */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'done'],
  [1, 'findings'],
  [2, 'usage or configuration error'],
  [3, 'credentials missing or refused, or login required'],
  [4, 'refused by the trust rules'],
  [5, 'network or service failure'],
  [6, 'file system or integrity failure'],
  [70, 'internal error'],
  [130, 'interrupted, or the reader of stdout has closed it'],
]

/** Variables that every command reads. */
export const ENVIRONMENT: readonly (readonly [name: string, meaning: string])[] = [
  ['STAC_AUTH_CREDENTIALS', "the credential file, in place of the one in the user's configuration folder"],
  ['STAC_AUTH_TOKEN', 'a bearer token for the URLs in STAC_AUTH_TOKEN_FOR'],
  ['STAC_AUTH_DEBUG', 'logs requests as --verbose does, and shows where an internal error comes from'],
  ['NO_COLOR', 'turns colours off'],
  ['FORCE_COLOR', 'turns colours on where there is no terminal'],
]
