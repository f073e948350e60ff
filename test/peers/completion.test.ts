import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { COMPLETED, typedAt } from '../cli/shells.ts'
import { type Peer, startPeer } from './peer.ts'

let shells: Peer<object> | undefined
beforeAll(async () => {
  shells = await startPeer('shells')
}, 300_000)
afterAll(async () => {
  if (shells && 'stop' in shells) await shells.stop()
})
beforeEach(({ skip }) => {
  if (shells && 'missing' in shells) skip(shells.missing)
})

describe.each(['zsh', 'fish'])('%s', (shell) => {
  it.each(COMPLETED)(
    '%j runs what is completed',
    async (typed, printed) => {
      const { screen, files } = await typedAt(shell, typed)
      expect(screen).toContain(printed)
      expect(files).not.toContain('pwned')
    },
    60_000,
  )
})
