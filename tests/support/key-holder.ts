import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";

/** What a proof says in place of what is true. */
export type Change = { header?: object; claims?: object };

export type KeyHolder = ReturnType<typeof makeKeyHolder>;

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");

/**
 * A program with a key of its own, which it proves to have by DPoP (RFC 9449).
 *
 * @param now - its clock, in Unix milliseconds
 */
export function makeKeyHolder(url: string, now = Date.now, alg: "ES256" | "EdDSA" | "Ed25519" = "ES256") {
  const { privateKey, publicKey } =
    alg === "ES256" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
  const jwk = publicKey.export({ format: "jwk" });
  const members = alg === "ES256" ? ["crv", "kty", "x", "y"] : ["crv", "kty", "x"];
  const canonical = JSON.stringify(jwk, members);
  const thumbprint = createHash("sha256").update(canonical).digest("base64url");
  function prove(method: string, path: string, token?: string, { header, claims }: Change = {}): string {
    const head = { typ: "dpop+jwt", alg, jwk, ...header };
    const says = {
      jti: randomUUID(),
      htm: method,
      htu: url + path,
      iat: Math.floor(now() / 1000),
      ...(token && { ath: createHash("sha256").update(token).digest("base64url") }),
      ...claims,
    };
    const signed = `${encode(head)}.${encode(says)}`;
    const hash = alg === "ES256" ? "sha256" : undefined;
    const signature = sign(hash, Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
    return `${signed}.${signature.toString("base64url")}`;
  }
  return {
    thumbprint,
    jwk,
    privateJwk: privateKey.export({ format: "jwk" }),
    prove,
    /** The headers of a request with a token that is bound to the key. */
    headers: (method: string, path: string, token: string, change?: Change) => ({
      authorization: `DPoP ${token}`,
      dpop: prove(method, path, token, change),
    }),
  };
}
