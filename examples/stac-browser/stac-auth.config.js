/** The credentials of this STAC Browser: which secrets there are, and where each may be sent. */

/** Asks the person once per page; the answer is kept in memory. */
function ask(question) {
  let answer
  return () => {
    answer ??= window.prompt(question) ?? undefined
    return answer ?? ''
  }
}

export const credentials = [
  {
    id: 'key',
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    value: ask('Key of the API'),
    sendTo: ['https://api.example/stac/', 'https://data.example/'],
  },
  {
    id: 'token',
    type: 'apiKey',
    in: 'query',
    name: 'token',
    value: ask('Token of the archive'),
    sendTo: ['https://data.example/'],
  },
  {
    id: 'account',
    type: 'http',
    scheme: 'basic',
    username: 'guest',
    password: ask('Password of the archive'),
    sendTo: ['https://data.example/'],
  },
  {
    id: 'portal',
    type: 'openIdConnect',
    issuer: 'https://identity.example/',
    clientId: 'stac-browser',
    scopes: ['openid', 'offline_access', 'read'],
    sendTo: ['https://data.example/'],
  },
]
