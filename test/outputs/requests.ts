import type { AuthorizedRequest } from '../../src/auth/auth.ts'

export const SECRET = 'hunter2-hunter2'

/** A request whose secret stands in a header. */
export const withBearer: AuthorizedRequest = {
  method: 'GET',
  url: 'https://data.example/B04.tif?x=1',
  headers: { accept: '*/*', authorization: `Bearer ${SECRET}` },
  ref: 'oidc',
  scheme: 'openIdConnect',
  credential: 'cdse',
  expiresAt: '2026-11-20T10:00:00Z',
  pointer: '/assets/B04',
  secretIn: { headers: ['authorization'], url: false },
}

/** A request whose secret stands in the address. */
export const withQueryKey: AuthorizedRequest = {
  method: 'GET',
  url: `https://data.example/f?sig=a%2Fb&key=${SECRET}`,
  headers: {},
  ref: 'k',
  scheme: 'apiKey',
  credential: 'portal',
  secretIn: { headers: [], url: true },
}

/** A signed request to an object store. */
export const withObject: AuthorizedRequest = {
  method: 'GET',
  url: 'https://eo.s3.eu-central-1.amazonaws.com/a/b.tif',
  headers: { authorization: `AWS4-HMAC-SHA256 ${SECRET}`, 'x-amz-date': '20261120T100000Z' },
  ref: 's3',
  scheme: 's3',
  credential: 'eo',
  location: {
    bucket: 'eo',
    key: 'a/b.tif',
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
    region: 'eu-central-1',
    virtualHost: true,
    requesterPays: true,
  },
  secretIn: { headers: ['authorization'], url: false },
}

/** What a hostile catalog would like to print. */
export const hostile: AuthorizedRequest = {
  method: 'GET',
  url: "https://data.example/'$(id)'\u202e",
  headers: { "x-\u001b[2J'": "a'b\r\nx-injected: 1", authorization: SECRET },
  secretIn: { headers: ['authorization'], url: false },
}
