/** The package has no types of its own; this is what is used of them. */
declare module 'leaflet' {
  export interface Coords {
    readonly x: number
    readonly y: number
    readonly z: number
  }
  export type DoneCallback = (error?: Error, tile?: HTMLElement) => void
  export interface TileEvent {
    readonly tile: HTMLElement
    readonly error?: Error
  }
  export interface TileLayerOptions {
    readonly tileSize?: number
  }
  export class TileLayer {
    constructor(url: string, options?: TileLayerOptions)
    createTile(coords: Coords, done: DoneCallback): HTMLElement
    getTileUrl(coords: Coords): string
    on(type: string, listener: (event: TileEvent) => void): this
    addTo(map: Map): this
  }
  // biome-ignore lint/suspicious/noShadowRestrictedNames: its name in the package
  export class Map {
    constructor(element: string, options: { readonly center: readonly [number, number]; readonly zoom: number })
    remove(): this
  }
}
