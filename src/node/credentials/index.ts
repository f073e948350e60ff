/** The user's credential file, and where its secrets are kept. */
export { endpointIn } from './aws-keys.ts'
export {
  credentialFileText,
  credentialsFromEnvironment,
  credentialsFromFile,
  credentialsFromText,
  defaultCredentialFile,
  defaultFileToRead,
  type TokenSettings,
  tokenSettingsFromText,
} from './credential-file.ts'
export { isKeyringWaiting } from './keyring.ts'
export { isSecretPath, secretFilePath, secretSource } from './secret-source.ts'
export { isStored, removeStoredSecret, replaceSecret, type StoredSecret, storeSecret } from './store-secret.ts'
