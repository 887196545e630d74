import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "@/tests/support/leash";

let folder: string | undefined;

/** A certificate for localhost and apps.example.com, for two days, that nobody has vouched for but itself; and its key. */
export function certificate() {
  const at = folder ?? make();
  return { key: readFileSync(join(at, "key.pem"), "utf8"), cert: readFileSync(join(at, "cert.pem"), "utf8") };
}

/** The file that makes a process trust it, named in NODE_EXTRA_CA_CERTS. */
export function trust(): string {
  return join(folder ?? make(), "cert.pem");
}

function make(): string {
  folder = createFolder("process");
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,DNS:apps.example.com"];
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  const flags = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
  execFileSync("openssl", [...flags, ...subject, ...files], { stdio: "ignore" });
  return folder;
}
