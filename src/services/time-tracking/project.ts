/** Projects, as far as their fields are known from public descriptions; services may have others. */

import { asBool, asDecimal, asDuration, asInstant, asInt, type FieldReaders, type Instant } from '../client/rest-resource.ts'

/** Whole numbers are `bigint` where a `number` would not be exact. */
type Int = number | bigint

/** A project that was read. What is not there is not known; null is what the service said. */
export interface Project {
  readonly id?: Int
  readonly name?: string
  readonly description?: string | null
  readonly active?: boolean
  readonly template?: boolean
  /** 1 public, 2 private. */
  readonly privacy?: Int
  readonly customer_id?: Int | null
  readonly required_task?: boolean
  readonly billable?: boolean
  /** `project`, `user`, or what the service adds. */
  readonly bill_by?: string
  /** Decimal digits as text. Only when one project is read, like the four below. */
  readonly rate?: string | null
  /** Decimal digits as text. */
  readonly value_total?: string | null
  /** Milliseconds. */
  readonly time_total?: number | null
  readonly total_members?: Int | null
  readonly total_active_tasks?: Int | null
  readonly date_created?: Instant | null
  readonly date_changed?: Instant | null
  readonly date_updated?: Instant | null
  readonly created_by?: Int | null
  readonly deleted_by?: Int | null
  /** `active` or `archived`. */
  readonly status?: string
  readonly privacy_s?: string
  readonly customer_name?: string | number | null
  readonly is_member?: boolean
  readonly is_manager?: boolean
}

/** What may be written. Null clears; a service may know further fields. */
export interface ProjectChanges {
  readonly name?: string
  readonly description?: string | null
  readonly active?: boolean
  readonly template?: boolean
  readonly privacy?: 1 | 2
  readonly customer_id?: number | bigint | string | null
  readonly required_task?: boolean
  readonly billable?: boolean
  readonly bill_by?: string
  /** Text keeps every digit. */
  readonly rate?: string | number | null
  readonly [field: string]: unknown
}

/** A project to be made. */
export interface NewProject extends ProjectChanges {
  readonly name: string
}

/** Fields that services write in more than one way. */
export const projectFields: FieldReaders = {
  id: asInt,
  active: asBool,
  template: asBool,
  privacy: asInt,
  customer_id: asInt,
  required_task: asBool,
  billable: asBool,
  rate: asDecimal,
  value_total: asDecimal,
  time_total: asDuration,
  total_members: asInt,
  total_active_tasks: asInt,
  date_created: asInstant,
  date_changed: asInstant,
  date_updated: asInstant,
  created_by: asInt,
  deleted_by: asInt,
  is_member: asBool,
  is_manager: asBool,
}
