/**
 * A bar that divides cells of a table: none behind a backslash, which may itself stand behind another. Looks back from bars only, so that
 * a line of backslashes costs no more than another. Keeps the bars when it splits. Source: GFM 4.10.
 */
export const BAR = /(\|)(?<=(?<!\\)(?:\\\\)*\|)/
