/** What `access.tsx` uses of Preact 11. */
export { useRef } from 'preact/hooks'
export type { StacAuthProps } from 'stac-auth/element/preact'

/** How the framework names the classes of an element. */
export const styled = { class: 'access' }
