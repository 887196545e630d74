import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "@/tests/support/leash";

let folder: string | undefined;

/** A self-signed certificate for localhost, 127.0.0.1 and apps.example.com, valid for two days, and its key. */
export function certificate() {
  const at = folder ?? make();
  return { key: readFileSync(join(at, "key.pem"), "utf8"), cert: readFileSync(join(at, "cert.pem"), "utf8") };
}

/** The file for NODE_EXTRA_CA_CERTS, which makes a process trust the certificate. */
export function trust(): string {
  return join(folder ?? make(), "cert.pem");
}

function make(): string {
  folder = createFolder("process");
  const subject = [
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=DNS:localhost,DNS:apps.example.com,IP:127.0.0.1",
  ];
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  const flags = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
  execFileSync("openssl", [...flags, ...subject, ...files], { stdio: "ignore" });
  return folder;
}

/**
 * An authority of its own with the certificate of a server at localhost, not at 127.0.0.1, and that of a client called ceo, as
 * files: `ca.pem`, `server.pem`, `server.key`, `client.pem`, `client.key`.
 */
export function makeAuthority(): string {
  const at = createFolder("process");
  const openssl = (...parameters: string[]) =>
    execFileSync("openssl", parameters, { cwd: at, stdio: "ignore" });
  const request = ["req", "-newkey", "rsa:2048", "-nodes"];
  openssl(...request, "-x509", "-days", "2", "-subj", "/CN=Our CA", "-keyout", "ca.key", "-out", "ca.pem");
  for (const [name, subject] of [
    ["server", "/CN=localhost"],
    ["client", "/CN=ceo"],
  ] as const) {
    const san = ["-addext", "subjectAltName=DNS:localhost"];
    openssl(...request, "-subj", subject, ...san, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    const sign = [
      "x509",
      "-req",
      "-days",
      "2",
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca.key",
      "-CAcreateserial",
      "-copy_extensions",
      "copy",
    ];
    openssl(...sign, "-in", `${name}.csr`, "-out", `${name}.pem`);
  }
  return at;
}
