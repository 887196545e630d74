import nextEnv from "@next/env";

/** Reads the `.env` files into the environment as Next does; what is set already stays. */
export function loadEnvFiles(): void {
  const isDevelopment = process.env.NODE_ENV !== "production";
  const complain = (...words: unknown[]) => process.stderr.write(`${words.join(" ")}\n`);
  nextEnv.loadEnvConfig(process.cwd(), isDevelopment, { info() {}, error: complain });
}
