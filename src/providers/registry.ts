/** The registry: all providers that the program knows. */
import { copernicus } from './copernicus.ts'
import { creodias } from './creodias.ts'
import { dlr } from './dlr.ts'
import { earthSearch } from './earth-search.ts'
import { earthdata } from './earthdata.ts'
import { eodms } from './eodms.ts'
import { eumetsat } from './eumetsat.ts'
import { landsat } from './landsat.ts'
import { openeoCdse } from './openeo-cdse.ts'
import { planet } from './planet.ts'
import { planetaryComputer } from './planetary-computer.ts'
import type { Provider } from './provider.ts'
import { sentinelHub } from './sentinel-hub.ts'
import { terrascope } from './terrascope.ts'

/** All providers, by title. */
export const providers: readonly Provider[] = /* @__PURE__ */ [
  copernicus,
  creodias,
  dlr,
  earthSearch,
  earthdata,
  eodms,
  eumetsat,
  landsat,
  openeoCdse,
  planet,
  planetaryComputer,
  sentinelHub,
  terrascope,
].map(({ provider }) => provider)
