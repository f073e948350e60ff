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
  ['[click](javascript:alert(1))', 'click'],
  ['[click](<javascript:alert(1) //> "x") [here](data:text/html,a (title))', 'click here'],
  ['[![logo](https://evil.example/track.png)](https://evil.example/)', 'logo'],
  ['**_[Register](https://help.example/)_ first**, ***then*** ask', 'Register first, then ask'],
  ['See [our desk][1] or [the desk].\n\n[1]: https://help.example/ "x"\n[The desk]: <https://help.example/>', 'See our desk or the desk.'],
  ['Write to <desk@help.example> or <https://help.example/a_b_c>.', 'Write to desk@help.example or https://help.example/a_b_c.'],
  ['Not \\*emphasis\\*, not \\[a link\\](x), `**code**` [1]', 'Not *emphasis*, not [a link](x), **code** [1]'],
  ['Title\n=====\n\n## Keys ##\n> - quoted *item*', 'Title Keys quoted item'],
  ['5 * 3 * 2 and snake_case_name and *args', '5 * 3 * 2 and snake_case_name and *args'],
])('shows %j as %j', (markdown, text) => {
  expect(plainText(markdown)).toBe(text)
})

it('cuts off a long text, and no link in its middle', () => {
  for (const piece of ['[', '*', '`', '_', '![](', '> ', 'a', '[a', '**a', '`a', '\\\\', '<a:', '(_a', '[a]: b\n']) {
    expect(plainText(piece.repeat(50_000)).length).toBeLessThanOrEqual(501)
  }
  expect(plainText(`Ask [here](https://help.example/${'a'.repeat(5000)}).`)).toBe('Ask here…')
  expect(plainText(`Ask [here](https://help.example/${'a'.repeat(5000)}).`.slice(0, 500))).toBe('Ask here…')
  expect(plainText(`[Ask](https://help.example/${'a'.repeat(400)}) first.`)).toBe('Ask first.')
})
