/** What `access.tsx` uses of React 19. */
export { useRef } from 'react'
export type { StacAuthProps } from 'stac-auth/element/react'
