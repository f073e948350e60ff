/** What every adapter must keep, whatever library it serves. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Auth } from '../../src/auth/auth.ts'
import type { Target } from '../../src/stac/target.ts'
import { canary, leaks, shown } from '../harness/canary.ts'
import { type Archive, type Files, startArchive } from './archive.ts'

export interface Reading {
  readonly files: Files
  /** Name of a file or folder among them. */
  readonly name: string
  /** Reads it through the library: what came, or a failure. */
  readonly read: (auth: Auth, target: Target, archive: Archive) => Promise<unknown>
  /** What comes from a right reading. */
  readonly expected: unknown
}

/** Reads with the right key, a wrong one, through a redirect to a stranger, and from a stranger. */
export function keepsTheGrant({ files, name, read, expected }: Reading): void {
  let archive: Archive
  beforeAll(async () => {
    archive = await startArchive(files)
  })
  afterAll(() => archive.close())

  describe('the grant', () => {
    it('opens the file', async () => {
      expect(await read(archive.engine(), archive.target(`/files/${name}`), archive)).toEqual(expected)
      const kept = archive.guarded.exchanges.filter(({ request }) => request.path.startsWith(`/files/${name}`))
      expect(kept.length).toBeGreaterThan(0)
      expect(kept.every(({ answer }) => answer.status < 300 || answer.status === 404)).toBe(true)
    })

    it('does not open it with a wrong key, which no error shows', async () => {
      const wrong = canary('wrong')
      const before = archive.guarded.exchanges.length
      const outcome = await read(archive.engine(wrong.value), archive.target(`/files/${name}`), archive).catch((error: unknown) => error)
      expect(outcome).toBeInstanceOf(Error)
      expect(leaks([wrong], { error: shown(outcome) })).toEqual([])
      const statuses = archive.guarded.exchanges.slice(before).map(({ answer }) => answer.status)
      expect(new Set(statuses)).toEqual(new Set([403]))
    })

    it('tells nothing to a host behind a redirect', async () => {
      const before = archive.stranger.exchanges.length
      await read(archive.engine(), archive.target(`/moved/${name}`), archive).catch(() => {})
      const told = archive.stranger.exchanges.slice(before).filter(({ request }) => 'x-archive-key' in request.headers)
      expect(told).toEqual([])
      expect(archive.guarded.exchanges.some(({ request, answer }) => request.path.startsWith('/moved/') && answer.status === 302)).toBe(
        true,
      )
    })

    it('tells nothing to another host', async () => {
      const before = archive.stranger.exchanges.length
      await read(archive.engine(), archive.target(`${archive.stranger.origin}/files/${name}`), archive).catch(() => {})
      expect(archive.stranger.exchanges.slice(before).filter(({ request }) => 'x-archive-key' in request.headers)).toEqual([])
    })
  })
}
