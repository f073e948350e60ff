/** The packages that are installed with stac-auth, from the lock file: its dependencies and theirs, without optional peers. */
import { readFileSync } from 'node:fs'
import type { Repository } from './repository.ts'

export interface RunTimePackage {
  readonly name: string
  readonly version: string
  /** An SPDX identifier or expression. */
  readonly licence: string
  /** Subresource integrity of the tarball: `sha512-` and base64. */
  readonly integrity: string
  /** Names of the packages that it needs itself. */
  readonly needs: readonly string[]
  readonly hasInstallScript: boolean
}

interface Locked {
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
}

export const MANIFEST = readJson('package.json') as {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly repository?: Repository
  readonly homepage?: string
  readonly dependencies: Readonly<Record<string, string>>
}

/**
 * Returns the packages sorted by name. `npm sbom --omit=dev` and `npm ls --omit=dev` of some versions leave out those that
 * a development dependency needs too, so the dependencies are followed here.
 */
export function runTimePackages(): readonly RunTimePackage[] {
  const { packages } = readJson('package-lock.json') as { readonly packages: Readonly<Record<string, Locked>> }
  const found = new Map<string, RunTimePackage>()
  const waiting = Object.keys(MANIFEST.dependencies)
  for (const name of waiting) {
    if (found.has(name)) continue
    const locked = packages[`node_modules/${name}`]
    if (!locked?.license || !locked.integrity || locked.dev) throw new Error(`${name}: the lock file has no licence or integrity for it`)
    const needs = Object.keys(locked.dependencies ?? {}).sort()
    const nested = needs.find((needed) => `node_modules/${name}/node_modules/${needed}` in packages)
    if (nested) throw new Error(`${name} has its own version of ${nested}: this script expects one version of each package`)
    const { version, license: licence, integrity, hasInstallScript = false } = locked
    found.set(name, { name, version, licence, integrity, needs, hasInstallScript })
    waiting.push(...needs)
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))
}
