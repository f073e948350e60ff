/** What happens to an answer on its way. Places in a body are shares of its length: 0 is its beginning, 1 its end. */
export type Fault =
  /** Milliseconds before anything comes. */
  | { readonly do: 'delay'; readonly ms: number }
  /** Nothing more comes before the promise is kept; then the rest does. */
  | { readonly do: 'hold'; readonly at: 'head' | number; readonly until: Promise<unknown> }
  /** So many bytes at a time. */
  | { readonly do: 'drip'; readonly bytes: number; readonly everyMs: number }
  /**
   * The connection ends (FIN): before the announced length, inside a chunk, or where nothing says how long the body is. With `gzip` the
   * coded body is cut, and its length and the connection are right.
   */
  | { readonly do: 'cut'; readonly at: number; readonly framing: 'length' | 'chunk' | 'close' | 'gzip' }
  /** The connection is reset (RST), before the head or within the body. */
  | { readonly do: 'reset'; readonly at: 'head' | number }
  /** Nothing more comes and the connection stays. */
  | { readonly do: 'stall'; readonly at: 'head' | number }
  /** A `Content-Length` that is wrong by so many bytes. */
  | { readonly do: 'length'; readonly by: number }
  /** A 206 that says another first byte or another size, that nobody asked for, or that does not say what it is. */
  | { readonly do: 'range'; readonly as: 'start' | 'total' | 'unasked' | 'missing' }
  /** The whole file, whatever part was asked for. */
  | { readonly do: 'ignore-range' }
  /** From this request on the file is another one; with a place, its connection is reset there. */
  | { readonly do: 'revise'; readonly at?: number }
  /** A connection that says it stays is closed after a right answer. */
  | { readonly do: 'hang-up' }
  /** Something else instead, for which the file is not asked. */
  | { readonly do: 'answer'; readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }

/** A request that may meet a fault. */
export interface Passing {
  /** Without the query. */
  readonly path: string
  /** Which request for this path it is, from 1. */
  readonly nth: number
  /** As it was asked for. */
  readonly range: string | undefined
}

/** Chooses the fault of a request. */
export type FaultOf = (passing: Passing) => Fault | undefined
