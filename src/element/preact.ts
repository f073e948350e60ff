/** Types of `stac-auth/element/preact`: `<stac-auth>` in JSX of Preact 11. Nothing is loaded at run time. */
import type { ClassAttributes, HTMLAttributes } from 'preact'
import type { StacAuthAttributes } from './attributes.ts'
import type { StacAuthElement } from './stac-auth-element.ts'

/** All props of `<stac-auth>`, for components that pass them on. */
export type StacAuthProps = ClassAttributes<StacAuthElement> & HTMLAttributes<StacAuthElement> & StacAuthAttributes

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'stac-auth': StacAuthProps
    }
  }
}
