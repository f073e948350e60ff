/** Strategy `http` with all HTTP authentication schemes. */
import { httpStrategy } from './http-strategy.ts'
import { schemes } from './schemes.ts'

/** The strategy of `http` schemes, for all HTTP authentication schemes. */
export const http = /* @__PURE__ */ httpStrategy(schemes)
