/** Pages in the browsers of Debian, for tests that do the same in each of them. */
import type { Browser } from 'playwright-core'
import { useChromium } from './chromium.ts'
import { useFirefox } from './firefox.ts'
import { useWebKit } from './webkit.ts'

/** What all browsers can do. */
export interface InPage {
  goto(url: string): Promise<unknown>
  /** Evaluates an expression in the page. */
  run<T>(expression: string): Promise<T>
}

const BROWSERS = {
  Chromium: () => playwrightPages(useChromium()),
  Firefox: () => playwrightPages(useFirefox()),
  WebKit: () => {
    const webkit = useWebKit()
    return async (): Promise<InPage> => webkit()
  },
}

/** Starts browsers for all tests of the file; returns their names, each with a function that opens a page. */
export function usePages(...names: readonly (keyof typeof BROWSERS)[]): readonly (readonly [string, () => Promise<InPage>])[] {
  return names.map((name) => [name, BROWSERS[name]()] as const)
}

function playwrightPages(browser: () => Browser): () => Promise<InPage> {
  return async () => {
    const page = await (await browser().newContext({ viewport: null })).newPage()
    return { goto: (url) => page.goto(url), run: (expression) => page.evaluate(expression) }
  }
}
