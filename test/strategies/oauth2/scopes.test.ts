import { expect, it } from 'vitest'
import { scheme, target } from '../../harness/documents.ts'
import { DATA, TOKEN_URL, victim } from '../../harness/victim.ts'

it('a flood of scopes makes no flood of warnings', async () => {
  const { auth } = victim()
  const scopes = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`s${index}`, '']))
  const { warnings } = await auth.explain(target(scheme.client(TOKEN_URL, { scopes }), `${DATA}f.tif`))
  expect(warnings).toHaveLength(21)
  expect(warnings[0]).toMatchObject({ code: 'SCOPE_NOT_GRANTED', pointer: expect.stringMatching(/\/scopes\/s0$/) })
  expect(warnings.at(-1)).toMatchObject({ code: 'SCOPE_NOT_GRANTED', message: expect.stringContaining('19980 more') })
})
