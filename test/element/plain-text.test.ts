import { expect, it } from 'vitest'
import { plainText } from '../../src/element/plain-text.ts'

it.each([
  ['Ask for a **key** at [our desk](https://help.example/).', 'Ask for a key at our desk.'],
  ['# Keys\n\n1. *Register*\n2. `copy` the __key__\n', 'Keys Register copy the key'],
  ['> quoted\n\n---\n- free\n* fast', 'quoted free fast'],
  ['![logo](https://evil.example/track.png "x") of ~~us~~', 'logo of us'],
  ['```sh\ncurl -H "X-API-Key: …"\n```', 'curl -H "X-API-Key: …"'],
  ['3 * 4 = 12, a_b_c, 2 - 1', '3 * 4 = 12, a_b_c, 2 - 1'],
  ['<b onclick="x()">bold</b>', '<b onclick="x()">bold</b>'],
  ['[click](javascript:alert(1))', '[click](javascript:alert(1))'],
])('shows %j as %j', (markdown, text) => {
  expect(plainText(markdown)).toBe(text)
})

it('cuts off a long text', () => {
  for (const piece of ['[', '*', '`', '_', '![](', '> ', 'a']) expect(plainText(piece.repeat(50_000)).length).toBeLessThanOrEqual(501)
})
