import nextEnv from "@next/env";

/**
 * Reads the `.env` files into the environment as Next does; what is set already stays.
 *
 * @param complain - told of a file that cannot be read
 */
export function loadEnvFiles(complain: (complaint: string) => void): void {
  const isDevelopment = process.env.NODE_ENV !== "production";
  nextEnv.loadEnvConfig(process.cwd(), isDevelopment, {
    info() {},
    error: (...words: unknown[]) => complain(words.join(" ")),
  });
}
