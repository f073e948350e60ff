import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { temporaryFolder } from '../cli/folder.ts'
import { type Peer, startPeer } from './peer.ts'
import { recordSession, SESSION } from './terminal-session.ts'

let peer: Peer<object> | undefined
beforeAll(async () => {
  peer = await startPeer('gdal')
}, 150_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

it("the session of the README's picture is what the program and GDAL print today", async () => {
  const recorded = readFileSync(SESSION, 'utf8')
  // What GDAL says of the coordinate system differs between its versions, and is not in the picture.
  const [shown = ''] = recorded.split('Coordinate System is:')
  expect(shown).toMatch(/^\$ stac-auth lint .*\$ stac-auth setup .*\$ stac-auth run .*\nSize is 300, 200\n$/s)
  expect((await recordSession(await temporaryFolder())).split('Coordinate System is:')[0]).toBe(shown)
})
