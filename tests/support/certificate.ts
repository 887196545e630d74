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
