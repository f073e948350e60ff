/** The registry: all providers that the program knows. */
import { brazilDataCube } from './brazil-data-cube.ts'
import { capella } from './capella.ts'
import { ceda } from './ceda.ts'
import { copernicus } from './copernicus.ts'
import { creodias } from './creodias.ts'
import { destine } from './destine.ts'
import { dlr } from './dlr.ts'
import { earthSearch } from './earth-search.ts'
import { earthdaily } from './earthdaily.ts'
import { earthdata } from './earthdata.ts'
import { ecmwfAds, ecmwfCds, ecmwfEwds } from './ecmwf.ts'
import { eodms } from './eodms.ts'
import { eumetsat } from './eumetsat.ts'
import { geodes } from './geodes.ts'
import { hydrowebNext } from './hydroweb-next.ts'
import { landsat } from './landsat.ts'
import { meteoblue } from './meteoblue.ts'
import { nciSara } from './nci-sara.ts'
import { openeoCdse } from './openeo-cdse.ts'
import { planet } from './planet.ts'
import { planetaryComputer } from './planetary-computer.ts'
import type { Provider } from './provider.ts'
import { sentinelHub } from './sentinel-hub.ts'
import { terrascope } from './terrascope.ts'
import { theia } from './theia.ts'
import { umbra } from './umbra.ts'
import { up42 } from './up42.ts'
import { vantor } from './vantor.ts'
import { wekeo } from './wekeo.ts'

/** All providers, by id. */
export const providers: readonly Provider[] = /* @__PURE__ */ [
  brazilDataCube,
  capella,
  ceda,
  copernicus,
  creodias,
  destine,
  dlr,
  earthSearch,
  earthdaily,
  earthdata,
  ecmwfAds,
  ecmwfCds,
  ecmwfEwds,
  eodms,
  eumetsat,
  geodes,
  hydrowebNext,
  landsat,
  meteoblue,
  nciSara,
  openeoCdse,
  planet,
  planetaryComputer,
  sentinelHub,
  terrascope,
  theia,
  umbra,
  up42,
  vantor,
  wekeo,
].map(({ provider }) => provider)
