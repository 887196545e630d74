import nextEnv from "@next/env";

/** Settings by name, as the environment has them; none is empty. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Loads the `.env` files into the environment as Next does. Variables that are already set keep their value.
 *
 * @param complain - called for each file that cannot be read
 */
export function loadEnvFiles(complain: (complaint: string) => void): void {
  const isDevelopment = process.env.NODE_ENV !== "production";
  nextEnv.loadEnvConfig(process.cwd(), isDevelopment, {
    info() {},
    error: (...words: unknown[]) => complain(words.join(" ")),
  });
}
