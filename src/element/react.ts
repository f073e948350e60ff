/** Types of `stac-auth/element/react`: `<stac-auth>` in JSX of React 19. Nothing is loaded at run time. */
import type { ClassAttributes, HTMLAttributes } from 'react'
import type { StacAuthAttributes } from './attributes.ts'
import type { StacAuthElement } from './stac-auth-element.ts'

/** All props of `<stac-auth>`, for components that pass them on. */
export type StacAuthProps = ClassAttributes<StacAuthElement> & HTMLAttributes<StacAuthElement> & StacAuthAttributes

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'stac-auth': StacAuthProps
    }
  }
}
