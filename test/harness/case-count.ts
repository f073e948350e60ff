/** How many cases a test with generated input tries: a few in each run, all of them at night (`npm run nightly` sets `NIGHTLY`). */
export function caseCount(all: number, few: number): number {
  return process.env.NIGHTLY ? all : few
}
