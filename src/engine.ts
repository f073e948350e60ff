/** The engine without strategies, and what is needed beside it: for programs that are to carry those alone which they name. */
export { createEngine, type EngineOptions } from './auth/create-engine.ts'
export { apiKey, basic, bearer, oauth2, openIdConnect, s3, signedUrl, uncheckedCredential } from './auth/credential.ts'
export { memoryStore } from './auth/session.ts'
export { isAuthError } from './errors.ts'
export { alternateOf, assetOf, linkOf, targetsOf } from './stac/target.ts'
