import { expect, it } from 'vitest'
import { hintFor } from '../../src/auth/resource.ts'
import { addressOf, isAddressProblem } from '../../src/http/url.ts'

it.each([
  ['./a.tif', /"self" link/],
  ['http://data.example/a.tif', /https:/],
  ['https://ada:secret@data.example/', /type "http"/],
])('reports what to do about %s', (text, hint) => {
  const problem = addressOf(text, { secure: true, named: new Set() })
  expect(isAddressProblem(problem) && hintFor(problem)).toEqual({ hint: expect.stringMatching(hint) })
})
