/** The credentials of this STAC Browser, without secrets, and where each may be sent. The file is part of the page. */

/** Logins. */
export const credentials = [
  {
    id: 'portal',
    type: 'openIdConnect',
    issuer: 'https://identity.example/',
    clientId: 'stac-browser',
    scopes: ['openid', 'offline_access', 'read'],
    sendTo: ['https://data.example/'],
  },
  {
    id: 'mission',
    type: 'openIdConnect',
    issuer: 'https://login.mission.example/',
    clientId: 'stac-browser',
    sendTo: ['https://data.example/'],
  },
]

/** Keys and passwords: users type them when a server refuses a request without. */
export const offers = [
  { id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', sendTo: ['https://api.example/stac/', 'https://data.example/'] },
  { id: 'token', type: 'apiKey', in: 'query', name: 'token', sendTo: ['https://data.example/'] },
  { id: 'account', type: 'http', scheme: 'basic', username: 'guest', sendTo: ['https://data.example/'] },
]

/**
 * Ids, the default first. A URL without `auth:refs` gets the first one that may be sent there. With `auth:refs` it is the first one that also
 * suits the scheme: the same type, and the same header, parameter or provider.
 */
export const preferred = ['key', 'portal']
