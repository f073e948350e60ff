/**
 * A scheme type of your own: `com.example.ticket` wants a ticket in a header. Run it with
 * `npx tsx examples/custom-scheme.ts`; it prints the authorized request.
 */
import { assetOf, createAuth, defaultStrategies, type Secret, uncheckedCredential } from 'stac-auth'
import { type Credential, type Strategy, singleStep } from 'stac-auth/strategy'

type TicketScheme = { readonly type: 'com.example.ticket'; readonly counter: string }
type TicketCredential = Credential & { readonly counter: string; readonly ticket: Secret }

const ticket: Strategy<TicketScheme, TicketCredential> = {
  type: 'com.example.ticket',
  forms: [
    {
      fields: {
        counter: { kind: 'text', label: 'Counter', required: true },
        ticket: { kind: 'secret', label: 'Ticket', required: true },
      },
    },
  ],
  // What a scheme of a catalog must have in common with a credential of the user.
  identity: ({ counter }) => [[{ name: 'counter', value: counter, pointer: '/counter' }]],
  schemeOf: ({ counter }) => ({ type: 'com.example.ticket', counter }),
  describe: ({ counter }) => ({ credential: { type: 'com.example.ticket', counter }, fields: ticket.forms[0]?.fields ?? {} }),
  authorize: singleStep(async (request, { credential }) => ({
    ...request,
    headers: { ...request.headers, 'x-ticket': await credential.ticket.reveal() },
  })),
}

const item = {
  type: 'Feature',
  properties: { 'auth:schemes': { desk: { type: 'com.example.ticket', counter: 'east' } } },
  assets: { data: { href: 'https://data.example/scene.tif', 'auth:refs': ['desk'] } },
}

const auth = createAuth({
  strategies: [...defaultStrategies, ticket],
  credentials: uncheckedCredential({ type: 'com.example.ticket', counter: 'east', ticket: 'A-17', sendTo: 'https://data.example/' }),
})

const { method, url, headers } = await auth.authorize(assetOf(item, 'data'))
console.log(method, url, headers)
