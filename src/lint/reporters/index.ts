/** The formats of reports. Each is loaded on first use. */
import type { LineReporter, Reporter } from './report.ts'

export { type Incomplete, type Report, type Reporter, type ReportOptions, reportOf, type Summary } from './report.ts'

const REPORTERS = {
  pretty: async () => (await import('./pretty.ts')).pretty,
  concise: async () => (await import('./concise.ts')).concise,
  json: async () => (await import('./json.ts')).json,
  ndjson: async () => (await import('./ndjson.ts')).ndjson,
  sarif: async () => (await import('./sarif.ts')).sarif,
  junit: async () => (await import('./junit.ts')).junit,
  github: async () => (await import('./github.ts')).github,
  gitlab: async () => (await import('./gitlab.ts')).gitlab,
  markdown: async () => (await import('./markdown.ts')).markdown,
  rdjson: async () => (await import('./rdjson.ts')).rdjson,
} satisfies Readonly<Record<string, () => Promise<Reporter>>>

export type Format = keyof typeof REPORTERS

/** The names of the formats; the first is for people. */
export const FORMATS = Object.keys(REPORTERS) as readonly Format[]

/** The reporter of a format that is written while findings come, of which people are shown `most`; undefined for other formats. */
export async function lineReporterOf(format: Format, most?: number): Promise<LineReporter | undefined> {
  if (format === 'ndjson') return (await import('./ndjson.ts')).ndjsonLines
  if (format === 'concise') return (await import('./concise.ts')).conciseLines(most)
  return undefined
}

/** The reporter of a format. */
export function reporterOf(format: Format): Promise<Reporter> {
  return REPORTERS[format]()
}
