/** Whether npm runs the command. */
export const isRunByNpm = () => process.env.npm_lifecycle_event === "admin";

/**
 * Whether npm was given an option of this name, which it keeps for itself unless it comes behind a `--`: the command would be
 * done without it. PowerShell takes the `--` away.
 */
export const isKeptByNpm = (name: string): boolean =>
  isRunByNpm() && Boolean(process.env[`npm_config_${name.replaceAll("-", "_")}`]);

/** What to do about it. */
export const writeBehindDashes =
  "Write options behind --, as in npm run -s admin -- account list --limit 5, or call node dist/admin/main.js.";
