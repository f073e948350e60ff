/**
 * The parts of openid-client that are in use. To be loaded as a whole by `import()` when something must be asked: bundlers leave out
 * what is not named here, and that is more than half of it.
 */
export {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildAuthorizationUrlWithPAR,
  ClientSecretJwt,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  clientCredentialsGrant,
  clockSkew,
  clockTolerance,
  customFetch,
  enableNonRepudiationChecks,
  genericGrantRequest,
  getDPoPHandle,
  initiateDeviceAuthorization,
  modifyAssertion,
  None,
  PrivateKeyJwt,
  refreshTokenGrant,
  TlsClientAuth,
  tokenRevocation,
} from 'openid-client'
