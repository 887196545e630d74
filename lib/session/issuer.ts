import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { keepInDataDir } from "@/lib/process/data-dir";
import { oncePerProcess } from "@/lib/process/once-per-process";
import { settings } from "@/lib/settings/settings";

/** Whoever mints the session tokens that we accept. */
export type Issuer = {
  /** The `iss` of its tokens. */
  name: string;
  publicKey: KeyObject;
  /** The origins that the `azp` of a token may name. */
  authorizedParties: string[];
  /** Whether it keeps its sessions in our store, so that ending one ends its tokens. */
  keepsSessions: boolean;
};

/** The one issuer of this deployment; none when sign-in is not set up. */
export function sessionIssuer(): Issuer | undefined {
  return oncePerProcess("session issuer", () => {
    const { signIn, appUrl } = settings();
    switch (signIn.kind) {
      case "none":
        return undefined;
      case "clerk":
        return {
          name: signIn.issuer,
          publicKey: signIn.publicKey,
          authorizedParties: signIn.authorizedParties,
          keepsSessions: false,
        };
      case "local":
        return {
          name: localIssuerKey().name,
          publicKey: localIssuerKey().publicKey,
          authorizedParties: [appUrl],
          keepsSessions: true,
        };
    }
  });
}

const madeKey = {
  make() {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  },
  isSound(text: string) {
    try {
      return createPrivateKey(text).asymmetricKeyType === "rsa";
    } catch {
      return false;
    }
  },
};

/** The key of local sign-in, made on first use in `DATA_DIR`; the issuer is named after it, not after an address. */
export function localIssuerKey(): { name: string; publicKey: KeyObject; privateKey: KeyObject } {
  return oncePerProcess("local issuer key", () => {
    const pem = keepInDataDir(settings().dataDir, "issuer-key.pem", madeKey);
    const privateKey = createPrivateKey(pem);
    const publicKey = createPublicKey(privateKey);
    const thumbprint = createHash("sha256").update(publicKey.export({ type: "spki", format: "der" }));
    return { name: `urn:corner-office:${thumbprint.digest("base64url")}`, publicKey, privateKey };
  });
}
