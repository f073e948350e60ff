/** All fixes, by code. */
import type { Fix } from '../fix.ts'
import { flows } from './flows.ts'
import { placement } from './placement.ts'
import { references } from './references.ts'
import { schemes } from './schemes.ts'

export const fixes: Readonly<Record<string, Fix>> = { ...placement, ...references, ...schemes, ...flows }
