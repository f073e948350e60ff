/** What `access.tsx` uses of React 19. */
export { useRef } from 'react'
export type { StacAuthProps } from 'stac-auth/element/react'

/** How the framework names the classes of an element. */
export const styled = { className: 'access' }
