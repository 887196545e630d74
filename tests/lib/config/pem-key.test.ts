import { execFileSync } from "node:child_process";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readDer } from "@/lib/config/pem-key";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const keys = [
  ["PKCS #8", privateKey.export({ type: "pkcs8", format: "pem" }), { type: "pkcs8", format: "der" }],
  ["PKCS #1", privateKey.export({ type: "pkcs1", format: "pem" }), { type: "pkcs1", format: "der" }],
  ["a public key", createPublicKey(privateKey).export({ type: "spki", format: "pem" }), undefined],
] as const;

describe.each(keys)("a key, %s, in the environment", (_, pem, format) => {
  const text = String(pem);
  const der = format
    ? privateKey.export(format)
    : createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const escaped = text.replaceAll("\n", "\\n");

  it.each([
    ["has its lines: compose, Kubernetes, systemd with quotes", text],
    ["has a blank line before and after", `\n\n${text}\n\n`],
    ["has the lines of Windows", text.replaceAll("\n", "\r\n")],
    ["has \\n for line breaks", escaped],
    ["has \\r\\n for line breaks", text.replaceAll("\n", "\\r\\n")],
    ["has \\\\n for line breaks, escaped twice", text.replaceAll("\n", "\\\\n")],
    ["has only the n of them: systemd and compose without quotes", text.replaceAll("\n", "n")],
    ["has blanks for them: a shell without quotes", text.trim().replaceAll("\n", " ")],
    ["is in double quotes: docker --env-file passes them on", `"${escaped}"`],
    ["is in single quotes", `'${text}'`],
    ["is one line", text.replaceAll("\n", "")],
    ["is the base64 of the PEM", Buffer.from(text).toString("base64")],
    [
      "is the base64 of the PEM, in lines of 76",
      Buffer.from(text).toString("base64").replace(/.{76}/g, "$&\n"),
    ],
    ["is the base64 of the PEM, in quotes", `"${Buffer.from(text).toString("base64")}"`],
    ["is its base64 alone", text.replace(/-----[A-Z ]+-----|\n/g, "")],
  ])("is read when it %s", (_, given) => {
    expect(readDer(given).equals(der)).toBe(true);
  });

  it("is read as a shell reads it from a file", () => {
    const print = (...words: string[]) =>
      execFileSync("sh", ["-c", ...words], { env: { ...process.env, KEY: text } }).toString();
    expect(readDer(print('export K="$KEY"; printf %s "$K"')).equals(der)).toBe(true);
    expect(readDer(print('export K=$(printf \'%s\' "$KEY" | base64); printf %s "$K"')).equals(der)).toBe(
      true,
    );
    expect(readDer(print("echo $KEY")).equals(der)).toBe(true);
    expect(readDer(print(`K='${escaped}'; printf %s "$K"`)).equals(der)).toBe(true);
  });
});

it.each(["", "x", "-----BEGIN PRIVATE KEY-----", "n", '"'])("%j has no key", (text) => {
  expect(readDer(text).length).toBeLessThan(20);
});
