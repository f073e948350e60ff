import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runTimePackages } from '../../scripts/run-time-packages.ts'
import { root } from '../architecture/files.ts'
import { temporaryFolder } from '../cli/folder.ts'

const packages = runTimePackages()
const { version, dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
/** Licences that ask for their notice alone, which THIRD-PARTY.md holds. */
const ALLOWED = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0']

describe('packages at run time', () => {
  it('are the dependencies and what these need', () => {
    const names = packages.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)))
    expect(packages.flatMap(({ needs }) => needs).filter((name) => !names.includes(name))).toEqual([])
    for (const { name, version: packageVersion } of packages) {
      expect(JSON.parse(readFileSync(`${root}node_modules/${name}/package.json`, 'utf8')).version).toBe(packageVersion)
    }
  })

  it('have licences that only ask to be named, and THIRD-PARTY.md names each with its copyright', () => {
    const notices = readFileSync(`${root}THIRD-PARTY.md`, 'utf8')
    expect(packages.filter(({ licence }) => !ALLOWED.includes(licence))).toEqual([])
    for (const { name, version: packageVersion, licence } of packages) {
      expect(JSON.parse(readFileSync(`${root}node_modules/${name}/package.json`, 'utf8')).license).toBe(licence)
      expect(notices).toContain(`| \`${name}\` | ${packageVersion} | ${licence} |`)
      expect(notices.split(`\n## ${name}\n`)[1]?.split('\n## ')[0]).toMatch(/Copyright/i)
    }
  })

  it('run no script when they are installed', () => {
    expect(packages.filter(({ hasInstallScript }) => hasInstallScript)).toEqual([])
    for (const { name } of packages) {
      const { scripts = {} } = JSON.parse(readFileSync(`${root}node_modules/${name}/package.json`, 'utf8'))
      expect(Object.keys(scripts).filter((script) => /^(?:pre|post)?install$/.test(script))).toEqual([])
    }
    // Neither does stac-auth: `prepack` and `prepare` run where it is packed, and in a clone.
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
    expect(Object.keys(scripts).filter((script) => /^(?:pre|post)?install$/.test(script))).toEqual([])
  })
})

describe('the bill of materials', () => {
  const print = (cwd: string, env: NodeJS.ProcessEnv = {}) =>
    execFileSync(process.execPath, ['--import', import.meta.resolve('tsx'), `${root}scripts/sbom.ts`], {
      cwd,
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    })

  it('is not printed for an argument that it does not know', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), `${root}scripts/sbom.ts`, 'x'])
    expect([status, String(stdout), String(stderr)]).toEqual([2, '', 'unknown argument: x. Usage: npx tsx scripts/sbom.ts\n'])
  })

  it('lists every package with its licence, its hash and what needs it', async () => {
    const bill = JSON.parse(print(root))
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', metadata: { component: { name: 'stac-auth', version } } })
    const lock = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')).packages
    expect(bill.components.map(({ name }: { name: string }) => name)).toEqual(packages.map(({ name }) => name))
    for (const { name, version: packageVersion, hashes, licenses, purl } of bill.components) {
      expect(purl).toBe(`pkg:npm/${name}@${packageVersion}`)
      const [{ alg, content }] = hashes
      expect(`${alg} sha512-${Buffer.from(content, 'hex').toString('base64')}`).toBe(`SHA-512 ${lock[`node_modules/${name}`].integrity}`)
      expect(ALLOWED).toContain(licenses[0].license.id)
    }
    const refs = [bill.metadata.component, ...bill.components].map((one: Record<string, string>) => one['bom-ref'])
    expect(bill.dependencies.map(({ ref }: { ref: string }) => ref)).toEqual(refs)
    const [own] = bill.dependencies
    expect(own.dependsOn).toHaveLength(Object.keys(dependencies).length)
    expect(
      bill.dependencies.flatMap(({ dependsOn }: { dependsOn: string[] }) => dependsOn).filter((ref: string) => !refs.includes(ref)),
    ).toEqual([])
  })

  it('is the same bytes in another folder at another time', async () => {
    const elsewhere = mkdtempSync(join(await temporaryFolder(), 'elsewhere-'))
    expect(print(elsewhere, { TZ: 'Pacific/Auckland', LANG: 'de_DE.UTF-8' })).toBe(print(root))
  })
})
