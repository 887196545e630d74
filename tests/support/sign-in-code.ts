import { createHmac, hkdfSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hashSecret, mintSecret } from "@/lib/runtime/secret";
import { queryOnce } from "@/tests/support/databases";
import type { Service } from "@/tests/support/service";
import { openEmbedded } from "@/tests/support/stores";

/**
 * Makes a code in the store of a service as if a browser had asked for it, without its mail: the runner looks for mails four
 * times a second, for which the suite would wait minutes. Returns the browser's secret, too.
 */
export async function makeCode({ environment, dataDir }: Service, email: string) {
  const [browser, code] = [mintSecret(), "123456"];
  const secret = environment.APP_SECRET ?? readFileSync(join(dataDir, "app-secret"), "utf8").trim();
  const key = Buffer.from(hkdfSync("sha256", secret, "", "sign-in-code:v1", 32));
  const codeHash = createHmac("sha256", key).update(`${browser}.${code}`).digest("base64url");
  const never = Number.MAX_SAFE_INTEGER; // whatever the service's clock says
  const row = [hashSecret("sign-in", browser), email, codeHash].map(
    (text) => `'${text.replaceAll("'", "''")}'`,
  );
  const sql = `INSERT INTO sign_in_codes (browser_hash, email, code_hash, tries, created_at_ms, expires_at_ms, share)
    VALUES (${row.join(", ")}, 0, ${never}, ${never}, 'known')`;
  const { DATABASE_URL } = environment;
  await (DATABASE_URL ? queryOnce(DATABASE_URL, sql) : openEmbedded(dataDir).query(sql));
  return { browser, code };
}
