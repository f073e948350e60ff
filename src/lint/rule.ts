/** The interface of rules. A rule covers one mistake in all its cases; each case has its metadata, and hooks that check a document. */
import type { Endpoint, FlowNode, LintDocument, ParameterNode, ProtectedTarget, SchemeNode, TargetNode } from './model.ts'
import type { Level, Preset } from './problem.ts'
import type { Violation } from './schema/violation.ts'

/** The name of a rule and its section. */
export interface RuleMeta {
  /** Kebab-case name that users write in their configuration; it includes all cases. */
  readonly id: string
  /** Section of the catalogue. The command that sends requests reports rules of the sections crawl and online, not the linter. */
  readonly section: 'placement' | 'references' | 'schemes' | 'flows' | 'run' | 'crawl' | 'online'
}

/** The code, levels and messages of one case of a rule. */
export interface CaseMeta {
  /** Kebab-case name of the case, as users may write it in their configuration too. The only case of a rule has the name of the rule. */
  readonly code: string
  /** Its level in each preset. */
  readonly severity: Readonly<Record<Preset, Level>>
  /** Texts by name; `{x}` is replaced, and data named `near` adds "did you mean". */
  readonly messages: Readonly<Record<string, string>>
  /** Present when the case has a fix: `safe` keeps the meaning, a `suggestion` needs a review. */
  readonly fix?: 'safe' | 'suggestion'
}

/** The values for the placeholders of a message, and data for the fix. */
export interface ReportData {
  readonly [name: string]: string | number | boolean | undefined
  /** The probably intended value; present but undefined means that there is no fix. */
  readonly near?: string
  /** The kind of fix of this finding, if it differs from that of the case; false if there is none. */
  readonly fix?: 'safe' | 'suggestion' | false
  /** True for a finding that depends on documents that were not read: its level is at most info. */
  readonly uncertain?: boolean
}

/** Reports a finding at a pointer, with one of the case's messages. */
export type Report = (pointer: string, message: string, data?: ReportData) => void

/** A rule with its cases. Why each exists, and how to repair it, is in fixtures/rules/<code>.json. */
export interface Rule {
  /** Its name and section. */
  readonly meta: RuleMeta
  /** Its cases, each with a code of its own. */
  readonly cases: readonly RuleCase[]
}

/** The texts for the page of a case. */
export interface CaseDocs {
  /** Anchor of the section in the text of the extension. */
  readonly part: string
  /** The effect of the mistake on clients, in a few sentences. */
  readonly why: string
  /** Steps to fix it. */
  readonly repair: readonly string[]
}

/** The hooks of a case, which implements those it needs; each is called once for every part of a document of its kind. */
interface Hooks {
  /** Returns true to claim a violation of the JSON Schema, which no other rule sees then; may report it. */
  claim?(violation: Violation, document: LintDocument, report: Report): boolean
  /** A Catalog, Collection or Item. */
  document?(document: LintDocument, report: Report): void
  /** An asset, alternate asset, item asset definition or link. */
  target?(target: TargetNode, report: Report): void
  /** A target with an href and at least one ref. */
  protectedTarget?(target: ProtectedTarget, report: Report): void
  /** A value of `auth:schemes`. */
  scheme?(scheme: SchemeNode, report: Report): void
  /** A flow of a scheme of type `oauth2` or `signedUrl`. */
  flow?(flow: FlowNode, report: Report): void
  /** The URL of a service in a scheme or flow. */
  endpoint?(endpoint: Endpoint, report: Report): void
  /** A parameter of a signing API. */
  parameter?(parameter: ParameterNode, report: Report): void
}

/** One case of a rule. */
export interface RuleCase {
  /** Its code, levels and messages. */
  readonly meta: CaseMeta
  /** The checks, which are not public. @internal */
  readonly hooks: Hooks
}

/** A case as its rule defines it: `levels` are those of the presets recommended, strict and schema. */
interface CaseDefinition extends Hooks, Pick<CaseMeta, 'messages' | 'fix'> {
  readonly levels: readonly [recommended: Level, strict: Level, schema: Level]
}

/** Returns a rule with its cases by their codes. */
export function rule(id: string, section: RuleMeta['section'], cases: Readonly<Record<string, CaseDefinition>>): Rule {
  return {
    meta: { id, section },
    cases: Object.entries(cases).map(
      ([
        code,
        {
          levels: [recommended, strict, schema],
          messages,
          fix,
          ...hooks
        },
      ]) => ({
        meta: { code, severity: { recommended, strict, schema }, messages, ...(fix && { fix }) },
        hooks,
      }),
    ),
  }
}
