/**
 * The parts of openid-client that are used. Loaded with `import()` when a request is needed: bundlers drop
 * everything not named here, which is more than half of it.
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
