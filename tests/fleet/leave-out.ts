/** Ends a drill because a program is not installed. Under CI nothing is left out. */
export function leaveOut(drill: string, program: string): never {
  process.stderr.write(`LEFT OUT: the ${drill}, because ${program} is not installed\n`);
  process.exit(process.env.CI ? 1 : 0);
}
