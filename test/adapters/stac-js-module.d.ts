/** The package has no types; this is what is used of it. */
declare module 'stac-js' {
  export interface Reference {
    readonly alternate?: { readonly [name: string]: Reference }
    getKey?(): string | null
    getContext(): Item | Reference | null
  }
  export class Asset implements Reference {
    constructor(data: object)
    getContext(): Item | Reference | null
  }
  export class Item {
    constructor(document: object, url?: string)
    readonly links: readonly Reference[]
    getAsset(key: string): Reference | null
    getAbsoluteUrl(): string | null
    toJSON(): object
  }
}
