/** A component with `<stac-auth>`, of React 19 and of Preact 11: `react.json` and `preact.json` name the framework. */

import { createLiveAuth, createLogins } from 'stac-auth/browser'
import type { StacAuthElement, StacAuthEvents } from 'stac-auth/element'
import { type StacAuthProps, styled, useRef } from '#framework'

const auth = createLiveAuth({ credentials: [] })
const logins = createLogins(auth, { callback: '/callback.html' })

interface Props {
  readonly item: { readonly assets: object } | undefined
  readonly url?: string
  readonly onReady: (event: StacAuthEvents['stac-auth-ready']) => void
}

export function Access({ item, url, onReady }: Props) {
  const element = useRef<StacAuthElement>(null)
  return (
    <stac-auth
      ref={element}
      key="access"
      {...styled}
      style={{ maxWidth: '40rem' }}
      auth={auth}
      logins={logins}
      document={item}
      url={url}
      parents={[{}]}
      typed={['http://127.0.0.1:8080/']}
      clients={[{ issuer: 'https://login.example/', clientId: 'page' }]}
      strings={{ title: 'Sign in' }}
      locale="de"
      watchClosing={false}
      atProvider
      heading-level={3}
      watch-closing="false"
      at-provider=""
      onClick={({ currentTarget }) => currentTarget.report(new Error('refused'))}
      onstac-auth-ready={onReady}
      onstac-auth-needed={({ detail }) => console.log(detail.state satisfies string)}
      onstac-auth-asking={({ detail }) => console.log(detail.asking satisfies boolean)}
      onstac-auth-error={(event) => element.current?.report(event.detail.error)}
    >
      <p slot="before">Read the terms first.</p>
    </stac-auth>
  )
}

/** What a component of its own passes on. */
export const Wrapped = (attributes: StacAuthProps) => <stac-auth {...attributes} />

// @ts-expect-error: what createAuth returns has no credentials that change
export const withoutCredentials = <stac-auth auth={{ explain: auth.explain }} />
// @ts-expect-error: a text that the element does not have
export const unknownText = <stac-auth strings={{ tittle: 'Sign in' }} />
// @ts-expect-error: headings have the levels 1 to 4
export const tooDeep = <stac-auth heading-level={7} />
// @ts-expect-error: the state is read only
export const readOnly = <stac-auth state="ready" />
// @ts-expect-error: the event of an error has no state
export const otherEvent = <stac-auth onstac-auth-error={({ detail }) => detail.state} />
