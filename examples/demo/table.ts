/** Lines of a table; columns whose cells are all numbers stand at the right. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const numeric = titles.map((_, column) => rows.every((row) => /^[\d.]+$/.test(row[column] ?? '')))
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => (numeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join('  ')
  return [titles, widths.map((width) => '-'.repeat(width)), ...rows].map((cells) => line(cells).trimEnd())
}
