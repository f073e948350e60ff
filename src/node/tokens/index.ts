/** Where the tokens of logins are kept: private files, the keyring, Redis. */
export { defaultTokenFolder, TokenFolder, tokenFiles } from './token-files.ts'
export { tokenKeyring } from './token-keyring.ts'
export { tokenEviction, tokenRedis } from './token-redis.ts'
