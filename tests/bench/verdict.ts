/** Prints one figure of the run beside the one that is wanted, and whether it is reached. */
export function judge(name: string, figure: number, most: number, unit: string, beside = ""): void {
  const decimals = unit === "×" ? 1 : 0;
  const words = `${name}: ${figure.toFixed(decimals)} ${unit} (wanted: ${most} ${unit} at most)`;
  print(`${figure <= most ? "✓" : "✗"} ${words}${beside && `, ${beside}`}`);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
