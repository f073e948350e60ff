import { StacApiProvider } from '@developmentseed/stac-react'
import { QueryClient } from '@tanstack/react-query'
import { createElement, type ReactNode } from 'react'
import type { Auth } from 'stac-auth'
import { authorizedQueries } from 'stac-auth/adapters/stac-react'

/** A protected API for the hooks of stac-react in `children`. */
export async function apiFor(auth: Auth, apiUrl: string, children: ReactNode) {
  const queryClient = await authorizedQueries(auth, apiUrl, new QueryClient())
  return createElement(StacApiProvider, { apiUrl, queryClient, children })
}
