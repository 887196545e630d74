type Goal = { most: number } | { least: number };

const rows: string[] = [];

/**
 * Prints one figure of the run, its goal, whether it is reached, and a remark; {@link printTable} repeats it.
 */
export function judge(name: string, figure: number, goal: Goal, unit: string, note = ""): void {
  const isReached = "most" in goal ? figure <= goal.most : figure >= goal.least;
  const mark = isReached ? "✓" : "✗";
  const found = say(figure.toFixed(unit === "×" || figure < 20 ? 1 : 0), unit);
  const wanted = "most" in goal ? `${say(goal.most, unit)} at most` : `${say(goal.least, unit)} at least`;
  print(`${mark} ${name}: ${found} (wanted: ${wanted})${note && `, ${note}`}`);
  rows.push(`| ${name} | ${found} | ${wanted} | ${mark} | ${note} |`);
}

/** Prints every figure of the run as a Markdown table. */
export function printTable(): void {
  print(["", "| figure | found | wanted | | note |", "| --- | --- | --- | --- | --- |", ...rows].join("\n"));
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function say(figure: string | number, unit: string): string {
  return unit ? `${figure} ${unit}` : String(figure);
}
