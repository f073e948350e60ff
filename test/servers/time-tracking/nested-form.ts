import type { Pairs } from '../service/form-pairs.ts'

/** What a field of a form says: a text, a list, or fields of its own. */
export type FormValue = string | FormValue[] | { [name: string]: FormValue }

/** Reads names with brackets as fields inside of fields: `a[b]=1`, `a[0]=x`, `a[]=x`. Throws a `SyntaxError` for names that do not fit together. */
export function nestedForm(pairs: Pairs): Readonly<Record<string, FormValue>> {
  const root = branch()
  for (const [name, value] of pairs) {
    const [, first, brackets = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? []
    if (first === undefined) throw new SyntaxError(`the field name ${JSON.stringify(name)}`)
    const inner = [...brackets.matchAll(/\[([^\]]*)\]/g)].map(([, part = '']) => part)
    put(root, [first, ...inner], value, name)
  }
  return Object.fromEntries([...root].map(([name, value]) => [name, plain(value)]))
}

type Tree = Map<string, Tree | string>
const branch = (): Tree => new Map()

function put(tree: Tree, [part = '', ...rest]: readonly string[], value: string, name: string): void {
  const key = part === '' ? String(tree.size) : part
  const known = tree.get(key)
  if (rest.length === 0) {
    if (known !== undefined) throw new SyntaxError(`the field ${JSON.stringify(name)} twice`)
    tree.set(key, value)
    return
  }
  if (typeof known === 'string') throw new SyntaxError(`the field ${JSON.stringify(name)} as a text and as a group`)
  const next = known ?? branch()
  tree.set(key, next)
  put(next, rest, value, name)
}

/** Names that count from 0 make a list. */
function plain(value: Tree | string): FormValue {
  if (typeof value === 'string') return value
  const isList = [...value.keys()].every((key, index) => key === String(index))
  return isList ? [...value.values()].map(plain) : Object.fromEntries([...value].map(([name, inner]) => [name, plain(inner)]))
}
