import { generateKeyPairSync } from "node:crypto";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { expect } from "vitest";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: "spki", format: "der" }).toString("base64")}`;

/** A key that signs mail of example.com. */
export const dkimKey = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

/** Verifies a signature by this key and the selector `mail` with an independent implementation. */
export async function verifyDkim(message: string): Promise<"pass" | "fail"> {
  const resolver = async (name: string, type: string) => {
    expect([name, type]).toEqual(["mail._domainkey.example.com", "TXT"]);
    return [[record]];
  };
  const { results } = await dkimVerify(Buffer.from(message, "latin1"), { resolver });
  return results.every(({ status }) => status.result === "pass") ? "pass" : "fail";
}
