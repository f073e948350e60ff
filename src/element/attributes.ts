/** The attributes of `<stac-auth>` in JSX, which `react.ts` and `preact.ts` add to the elements that these know. */
import type { StacAuthElement, StacAuthEvents, StacAuthProperty } from './stac-auth-element.ts'

/** The properties, attributes and events of `<stac-auth>` in JSX: `auth={auth}`, `heading-level={3}`, `onstac-auth-ready={show}`. */
export type StacAuthAttributes = { readonly [Name in StacAuthProperty]?: StacAuthElement[Name] | undefined } & {
  readonly [Name in keyof StacAuthEvents as `on${Name}`]?: ((event: StacAuthEvents[Name]) => void) | undefined
} & {
  readonly 'heading-level'?: 1 | 2 | 3 | 4 | '1' | '2' | '3' | '4' | undefined
  readonly 'watch-closing'?: boolean | 'true' | 'false' | undefined
  readonly 'at-provider'?: boolean | '' | undefined
}
