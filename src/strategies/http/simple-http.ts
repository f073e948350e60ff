/** Strategy `http` with Basic, Bearer and ready-made values: for programs in one file, such as service workers, which would contain all others. */
import { basic } from './basic.ts'
import { bearer } from './bearer.ts'
import { httpStrategy } from './http-strategy.ts'

/** The strategy of `http` schemes for Basic, Bearer and ready-made values only, which is small. */
export const simpleHttp = /* @__PURE__ */ httpStrategy([basic, bearer])
