/** The types of the package name files without their ending, which only bundlers find; this is what is used of it. */
declare module '@developmentseed/stac-react' {
  import type { FunctionComponent, ReactNode } from 'react'

  interface Answered {
    readonly error: Error | null
  }
  interface Search extends Answered {
    readonly bbox?: readonly number[]
    readonly collections?: readonly string[]
    readonly dateRangeFrom?: string
    readonly sortby?: readonly Sorting[]
    readonly results?: object
    readonly nextPage: (() => void) | undefined
    setBbox(bbox: readonly number[]): void
    setCollections(ids: readonly string[]): void
    setDateRangeFrom(day: string): void
    setSortby(sortby: readonly Sorting[]): void
    submit(): void
  }
  interface Sorting {
    readonly field: string
    readonly direction: 'asc' | 'desc'
  }
  interface ProviderProperties {
    readonly apiUrl: string
    readonly options?: object
    readonly queryClient?: object
    readonly children?: ReactNode
  }
  export const StacApiProvider: FunctionComponent<ProviderProperties>
  export function useItem(url: string): Answered & { readonly item?: object }
  export function useCollection(id: string): Answered & { readonly collection?: object }
  export function useCollections(): Answered & { readonly collections?: object }
  export function useStacSearch(): Search
}
