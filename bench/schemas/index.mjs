/**
 * What a validator loads for an Item of STAC 1.1 of the benchmarks: the core, GeoJSON and every extension that is declared. Written
 * for the benchmarks after what the specifications demand and how the published schemas are built; none of them is a copy.
 */
import { core } from './core.mjs'
import { extensions } from './extensions.mjs'
import { geojson } from './geojson.mjs'

/** All of them; those of GeoJSON and of the common metadata are referred to by the others. */
export const schemas = [...geojson, ...core, ...extensions]
