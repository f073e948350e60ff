/** A customer. Only that the name can be changed is known. */
export interface Customer {
  readonly id?: number | bigint | string
  readonly name?: string
}

/** What may be written; a service may know further fields. */
export interface CustomerChanges {
  readonly name?: string
  readonly [field: string]: unknown
}
