import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** CBOR (RFC 8949), as much as WebAuthn needs: integers, byte and text strings, and maps. */
export type Cbor = number | string | Buffer | Map<number | string, Cbor>;

export function encodeCbor(value: Cbor): Buffer {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.size), ...[...value].flatMap((pair) => pair.map(encodeCbor))]);
}

function head(type: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(type << 5) | length]);
  if (length < 256) return Buffer.from([(type << 5) | 24, length]);
  return Buffer.from([(type << 5) | 25, length >> 8, length & 255]);
}

/** The flags of authenticator data (WebAuthn Level 3 §6.1). */
export const flag = { userPresent: 1, userVerified: 4, backupEligible: 8, attestedCredential: 64 };

/** The lies of a response. */
export type Lies = {
  origin?: string;
  rpId?: string;
  type?: string;
  challenge?: string;
  crossOrigin?: boolean;
  topOrigin?: string;
  flags?: number;
  counter?: number;
  userHandle?: string | null;
  credentialId?: string;
  /** The algorithm of the COSE key, instead of ES256. */
  algorithm?: number;
  signature?: Buffer;
  /** The format and statement of the attestation. */
  attestation?: [format: string, statement: Map<string, Cbor>];
};

/** The JSON that a browser sends (§5.1). */
export type Response = {
  id: string;
  rawId: string;
  type: string;
  response: Record<string, string | null>;
  clientExtensionResults: object;
};

type Options = { challenge: string; rpId?: string; rp?: { id: string }; user?: { id: string } };

/** An authenticator in software, with one ES256 credential, and the browser in front of it. */
export class Authenticator {
  readonly id = randomBytes(32).toString("base64url");
  counter = 0;
  private readonly keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  private userHandle: string | null = null;

  constructor(
    private readonly origin: string,
    private readonly key: KeyObject = this.keys.privateKey,
  ) {}

  /** Answers `navigator.credentials.create`. */
  create({ challenge, rp, user }: Options, lies: Lies = {}): Response {
    this.userHandle = user?.id ?? null;
    const { attestation = ["none", new Map()], algorithm = -7 } = lies;
    const { x = "", y = "" } = this.keys.publicKey.export({ format: "jwk" });
    const coseKey = new Map<number, Cbor>([
      [1, 2],
      [3, algorithm],
      [-1, 1],
      [-2, Buffer.from(x, "base64url")],
      [-3, Buffer.from(y, "base64url")],
    ]);
    const credentialId = Buffer.from(lies.credentialId ?? this.id, "base64url");
    const length = Buffer.alloc(2);
    length.writeUInt16BE(credentialId.length);
    const authData = Buffer.concat([
      this.authenticatorData(rp?.id ?? "", flag.attestedCredential, lies),
      Buffer.alloc(16),
      length,
      credentialId,
      encodeCbor(coseKey),
    ]);
    const attestationObject = new Map<string, Cbor>([
      ["fmt", attestation[0]],
      ["attStmt", attestation[1]],
      ["authData", authData],
    ]);
    return this.respond(lies, {
      clientDataJSON: this.clientData("webauthn.create", challenge, lies).toString("base64url"),
      attestationObject: encodeCbor(attestationObject).toString("base64url"),
    });
  }

  /** Answers `navigator.credentials.get`. */
  get({ challenge, rpId = "" }: Options, lies: Lies = {}): Response {
    const authenticatorData = this.authenticatorData(rpId, 0, lies);
    const clientData = this.clientData("webauthn.get", challenge, lies);
    const hash = createHash("sha256").update(clientData).digest();
    const signature = lies.signature ?? sign("sha256", Buffer.concat([authenticatorData, hash]), this.key);
    return this.respond(lies, {
      clientDataJSON: clientData.toString("base64url"),
      authenticatorData: authenticatorData.toString("base64url"),
      signature: signature.toString("base64url"),
      userHandle: lies.userHandle === undefined ? this.userHandle : lies.userHandle,
    });
  }

  private respond({ credentialId = this.id }: Lies, response: Response["response"]): Response {
    return {
      id: credentialId,
      rawId: credentialId,
      type: "public-key",
      response,
      clientExtensionResults: {},
    };
  }

  private clientData(type: string, challenge: string, lies: Lies): Buffer {
    const { crossOrigin = false, topOrigin } = lies;
    return Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? this.origin,
        crossOrigin,
        topOrigin,
      }),
    );
  }

  private authenticatorData(rpId: string, more: number, lies: Lies): Buffer {
    const { flags = flag.userPresent | flag.userVerified, counter = this.counter } = lies;
    const end = Buffer.alloc(5);
    end.writeUInt8(flags | more);
    end.writeUInt32BE(counter, 1);
    return Buffer.concat([
      createHash("sha256")
        .update(lies.rpId ?? rpId)
        .digest(),
      end,
    ]);
  }
}
