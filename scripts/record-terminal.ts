/** Records the session of the README's picture into fixtures/terminal-session.txt, after a build; needs Python and GDAL. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordSession, SESSION } from '../test/peers/terminal-session.ts'

const folder = mkdtempSync(join(tmpdir(), 'stac-auth-terminal-'))
try {
  writeFileSync(SESSION, await recordSession(folder))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
