import { describe, expect, it } from "vitest";
import { createFolder } from "@/tests/support/leash";
import { operate } from "@/tests/support/operator";

describe("--help", () => {
  it("describes every command, with an example that names it", { timeout: 180_000 }, async () => {
    const leaves: string[] = [];
    const walk = async (words: string[]): Promise<void> => {
      const { stdout } = await operate([...words, "--help"], { DATA_DIR: createFolder() });
      const [, commands = ""] = /^Commands:\n(.*)/ms.exec(stdout) ?? [];
      const under = [...commands.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = ""]) => name);
      for (const name of under) if (name !== "help") await walk([...words, name]);
      if (under.length > 0) return;
      leaves.push(words.join(" "));
      expect(stdout).toContain(`Examples:\n  npm run -s admin -- ${words.join(" ")}`);
    };
    await walk([]);
    expect(leaves.length).toBeGreaterThan(30);
  });
});
