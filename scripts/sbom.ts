/**
 * Prints the bill of materials of the package as CycloneDX 1.6: `npx tsx scripts/sbom.ts`.
 *
 * It depends on the lock file alone, without time and random numbers: whoever checks out a tag gets the same bytes.
 */
import { refuseArguments } from './command-line.ts'
import { MANIFEST, runTimePackages } from './run-time-packages.ts'

refuseArguments('npx tsx scripts/sbom.ts')

const { name, version, description, license, dependencies } = MANIFEST
const packages = runTimePackages()
const refs = new Map(packages.map((one) => [one.name, purl(one.name, one.version)]))
const own = purl(name, version)

const bill = {
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: {
    component: { type: 'library', 'bom-ref': own, name, version, description, licenses: licences(license), purl: own },
  },
  components: packages.map((one) => ({
    type: 'library',
    'bom-ref': refs.get(one.name),
    ...named(one.name),
    version: one.version,
    scope: 'required',
    hashes: [{ alg: 'SHA-512', content: sha512(one.integrity) }],
    licenses: licences(one.licence),
    purl: refs.get(one.name),
  })),
  dependencies: [
    { ref: own, dependsOn: Object.keys(dependencies).sort().map(refOf) },
    ...packages.map((one) => ({ ref: refOf(one.name), dependsOn: one.needs.map(refOf) })),
  ],
}

console.log(JSON.stringify(bill, undefined, 2))

function refOf(of: string): string {
  const ref = refs.get(of)
  if (!ref) throw new Error(`${of} is needed and not listed`)
  return ref
}

/** A package URL: the `@` of a scope is percent-encoded. */
function purl(of: string, at: string): string {
  return `pkg:npm/${of.replace('@', '%40')}@${at}`
}

function named(of: string): { readonly group?: string; readonly name: string } {
  const [first = '', second] = of.split('/')
  return second ? { group: first, name: second } : { name: first }
}

function licences(spdx: string): readonly object[] {
  return /[ ()]/.test(spdx) ? [{ expression: spdx }] : [{ license: { id: spdx } }]
}

function sha512(integrity: string): string {
  const [, base64] = /^sha512-([A-Za-z0-9+/=]{88})$/.exec(integrity) ?? []
  if (!base64) throw new Error(`expected one SHA-512 hash, not ${integrity}`)
  return Buffer.from(base64, 'base64').toString('hex')
}
