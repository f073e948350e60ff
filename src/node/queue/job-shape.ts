/** Checks of values that anyone with access to a queue may have written. */

import { isObject, own } from '../../stac/document.ts'

/**
 * Returns where a value is wrong, as a path below it such as `.files[0].name`, which is empty for the value itself; undefined if it is right.
 * A missing value is `undefined`.
 */
export type Check = (value: unknown) => string | undefined

/** A check for each member of a type: the compiler notices a missing one. */
export type Checks<T> = { readonly [Name in keyof T]-?: Check }

export const fits =
  (test: (value: unknown) => boolean): Check =>
  (value) =>
    test(value) ? undefined : ''

export const oneOf = (...values: readonly unknown[]): Check => fits((value) => values.includes(value))

export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value)

export const listOf =
  (check: Check, most = Number.POSITIVE_INFINITY): Check =>
  (value) => {
    if (!Array.isArray(value) || value.length > most) return ''
    for (const [index, one] of value.entries()) {
      const fault = check(one)
      if (fault !== undefined) return `[${index}]${fault}`
    }
    return undefined
  }

export const textOf = (longest: number): Check => fits((value) => typeof value === 'string' && value.length <= longest)

export const between = (least: number, most: number): Check => fits((value) => typeof value === 'number' && value >= least && value <= most)

export const wholeTo = (most: number): Check => fits((value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most)

/** A size, or an index that is compared with another bound. */
export const WHOLE = wholeTo(Number.MAX_SAFE_INTEGER)

export const FLAG = oneOf(undefined, true, false)

export const OBJECT = fits(isObject)

export const shapeOf =
  <T>(members: Checks<T>): Check =>
  (value) => {
    if (!isObject(value)) return ''
    for (const [name, check] of Object.entries<Check>(members)) {
      const fault = check(own(value, name))
      if (fault !== undefined) return `.${name}${fault}`
    }
    return undefined
  }
