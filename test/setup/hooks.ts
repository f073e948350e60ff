/**
 * Hooks of helpers that several test files import. Files share the modules of their worker (see `vitest.config.ts`), so `afterEach` in such a
 * module would be registered for the first of these files only; `run-hooks.ts` runs these after each test and each file.
 */
type Hook = () => unknown

export const hooks: { readonly test: Hook[]; readonly file: Hook[] } = { test: [], file: [] }

/** Runs the function after each test of every file from now on. */
export function afterEveryTest(hook: Hook): void {
  hooks.test.push(hook)
}

/** Runs the function after each file from now on. */
export function afterEveryFile(hook: Hook): void {
  hooks.file.push(hook)
}
