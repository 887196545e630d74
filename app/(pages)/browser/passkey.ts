/** Where a ceremony's options come from, and where its result is sent. */
export type Addresses = { options: string; action: string };

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
  return "That did not work, and nothing was changed. Try again.";
}

/** Whether this browser can use passkeys on this page. They belong to a name, never to an IP address (WebAuthn §5.1.3). */
export function canUsePasskeys(): boolean {
  const isNamed = !/^[\d.]+$|^\[/.test(location.hostname);
  return isNamed && globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined;
}

/**
 * Signs in, or confirms who the owner is, by a passkey. Returns the address to open. Throws if that fails; a passkey that
 * the service does not know is not offered again by a browser that can be told so (WebAuthn §5.1.10).
 */
export async function signWithPasskey(
  { options, action }: Addresses,
  how: Pick<CredentialRequestOptions, "mediation" | "signal"> = {},
): Promise<string> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await (await post(options)).json());
  const credential = await navigator.credentials.get({ publicKey, ...how });
  try {
    return (await (await post(action, JSON.stringify(credential))).json()).to;
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
  const answer = await post(options, new URLSearchParams(fields));
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(await answer.json());
  await post(action, JSON.stringify(await navigator.credentials.create({ publicKey })));
}

async function post(address: string, body: BodyInit | null = null): Promise<Response> {
  const answer = await fetch(address, { method: "POST", body });
  if (!answer.ok) throw new Refused(answer.status, (await answer.json()).error.message);
  return answer;
}
