/** Strategy `http` with all HTTP authentication schemes. */
import { httpStrategy } from './http-strategy.ts'
import { schemes } from './schemes.ts'

export const http = /* @__PURE__ */ httpStrategy(schemes)
