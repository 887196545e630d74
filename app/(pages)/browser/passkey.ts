/** Where a ceremony's options come from, and where its result is sent. */
export type Addresses = { options: string; action: string };

/** The options of a ceremony as the service sends them, with bytes in base64url. */
type Asked<Options> = Omit<Options, "challenge" | "allowCredentials"> & { challenge: string };

type AskedNew = Asked<Omit<PublicKeyCredentialCreationOptions, "user" | "excludeCredentials">> & {
  user: PublicKeyCredentialUserEntityJSON;
  excludeCredentials: { type: "public-key"; id: string }[];
};

/** A request that the service refused, in its words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Why a ceremony failed, for the person who tried it. */
export function explain(failure: unknown): string {
  if ((failure as Error).name === "InvalidStateError") return "This device has a passkey for you already.";
  if (failure instanceof Refused) return failure.message;
  // Of `fetch`: what was sent may have arrived.
  if (failure instanceof TypeError)
    return "We could not tell whether that worked. Reload this page, and look before you do it again.";
  return "That did not work, and nothing was changed. Try again.";
}

/** Whether this browser can use passkeys on this page. They belong to a name, never to an IP address (WebAuthn §5.1.3). */
export function canUsePasskeys(): boolean {
  const isNamed = !/^[\d.]+$|^\[/.test(location.hostname);
  return isNamed && globalThis.PublicKeyCredential !== undefined;
}

/**
 * Signs in, or confirms who the owner is, by a passkey. Returns the address to open. Throws if that fails; a passkey that
 * the service does not know is not offered again by a browser that can be told so (WebAuthn §5.1.10).
 */
export async function signWithPasskey(
  { options, action }: Addresses,
  how: Pick<CredentialRequestOptions, "mediation" | "signal"> = {},
): Promise<string> {
  const asked: Asked<PublicKeyCredentialRequestOptions> = await (await post(options)).json();
  const publicKey = { ...asked, challenge: fromBase64url(asked.challenge) };
  const credential = await navigator.credentials.get({ publicKey, ...how });
  try {
    return (await (await post(action, toJson(credential))).json()).to;
  } catch (failure) {
    const { rpId = "" } = publicKey;
    if (credential && failure instanceof Refused && failure.status === 404)
      await PublicKeyCredential.signalUnknownCredential?.({ rpId, credentialId: credential.id });
    throw failure;
  }
}

/** Creates a passkey and adds it to the account or operator that the fields name. Throws if that fails. */
export async function createPasskey(
  { options, action }: Addresses,
  fields: Record<string, string>,
): Promise<void> {
  const asked: AskedNew = await (await post(options, new URLSearchParams(fields))).json();
  const publicKey = {
    ...asked,
    challenge: fromBase64url(asked.challenge),
    user: { ...asked.user, id: fromBase64url(asked.user.id) },
    excludeCredentials: asked.excludeCredentials.map((held) => ({ ...held, id: fromBase64url(held.id) })),
  };
  await post(action, toJson(await navigator.credentials.create({ publicKey })));
}

/**
 * A credential as JSON (WebAuthn §5.1.3), made from its fields: the `toJSON` of some password managers' credentials is that
 * of the browser, which does not take them, and others' leaves parts out.
 */
function toJson(credential: Credential | null): string {
  const { rawId, type, response } = credential as PublicKeyCredential;
  const { attestationObject } = response as AuthenticatorAttestationResponse;
  const { authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse;
  const id = toBase64url(rawId);
  const { clientDataJSON } = response;
  const parts = { clientDataJSON, attestationObject, authenticatorData, signature, userHandle };
  const written = Object.entries(parts).map(([name, bytes]) => [
    name,
    bytes?.byteLength ? toBase64url(bytes) : undefined,
  ]);
  return JSON.stringify({
    id,
    rawId: id,
    type,
    response: Object.fromEntries(written),
  });
}

/*
 * The browser's own `parseCreationOptionsFromJSON` and its pair are newer than passkeys: Chrome's last version for macOS 10.15
 * (128) and Safari's for macOS 12 and iOS 16 lack them.
 */
const fromBase64url = (text: string) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (byte) => byte.charCodeAt(0));

/** Takes a buffer or, from some managers, an array of bytes. */
const toBase64url = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

async function post(address: string, body: BodyInit | null = null): Promise<Response> {
  const answer = await fetch(address, { method: "POST", body });
  if (answer.ok) return answer;
  const { message } = (await answer.json()).error;
  const id = answer.status < 500 ? null : answer.headers.get("x-request-id");
  throw new Refused(answer.status, id ? `${message} If it happens again, quote reference ${id}.` : message);
}
