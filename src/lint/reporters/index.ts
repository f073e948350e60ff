/** The formats of reports. */
export {
  FORMATS,
  type Format,
  type Incomplete,
  lineReporterOf,
  type Report,
  type Reporter,
  type ReportOptions,
  reporterOf,
  reportOf,
  type Summary,
} from './report.ts'
