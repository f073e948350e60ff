/** What `stac-auth/lint` promises to callers. */
import { lint, lintText, type Problem, type Rule, rules } from 'stac-auth/lint'
import { expectTypeOf } from 'vitest'

// A parsed document is judged at once; a text gives positions too.
expectTypeOf(lint({})).toExtend<readonly Problem[]>()
expectTypeOf(lintText('{}')).toExtend<readonly Problem[]>()
expectTypeOf(lint({})).not.toExtend<Promise<unknown>>()
expectTypeOf(rules).toExtend<readonly Rule[]>()

expectTypeOf<Problem['rule']>().toEqualTypeOf<string>()
expectTypeOf<Problem['message']>().toEqualTypeOf<string>()
expectTypeOf<Problem['pointer']>().toEqualTypeOf<string>()
expectTypeOf<Problem['severity']>().toEqualTypeOf<'error' | 'warn' | 'info'>()
expectTypeOf<Problem['line']>().toEqualTypeOf<number | undefined>()

lint({}, { preset: 'strict' })
// @ts-expect-error: there is no such preset
lint({}, { preset: 'harsh' })
