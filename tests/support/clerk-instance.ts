import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type {
  EmailAddressJSON,
  InvitationJSON,
  TokenJSON,
  UserDeletedJSON,
  UserJSON,
  WebhookEvent,
} from "@clerk/backend";
import { type Loopback, serve } from "@/tests/support/loopback";
import { oncePerWorker } from "@/tests/support/once-per-worker";
import type { Answer, Environment, Service } from "@/tests/support/service";

/** How the Backend API fails a request. */
type Fault = "hang" | "busy" | "refuse" | "break" | "forbid" | "fail";

/**
 * A fake Clerk instance: its keys, its Backend API on loopback, and its webhook deliveries. Everything it sends has
 * the types that Clerk publishes.
 */
export class ClerkInstance {
  /** Every request that reached the Backend API: method, path and body. */
  readonly requests: { method: string; path: string; body: Record<string, unknown> }[] = [];
  fault: Fault | undefined;
  /** User ids by session id; an unknown session is the CEO's. */
  readonly sessions = new Map<string, string>();
  private readonly handshakes = new Map<string, { directives: string[] }>();
  private readonly keys = oncePerWorker("Clerk's keys", () =>
    generateKeyPairSync("rsa", { modulusLength: 2048 }),
  );
  private readonly secret = randomBytes(24);
  private server: Loopback | undefined;

  private constructor(readonly frontendHost: string) {}

  /** @param frontendHost - the host of its Frontend API: the publishable key names it, and it is the token issuer */
  static async start(frontendHost = "clerk.example.com"): Promise<ClerkInstance> {
    const instance = new ClerkInstance(frontendHost);
    instance.server = await serve((incoming, outgoing) => void instance.answer(incoming, outgoing));
    return instance;
  }

  /** The settings of a service that uses this instance for sign-in. */
  get environment(): Environment {
    return {
      SIGN_IN: "clerk",
      APP_URL: "http://localhost:3000",
      CLERK_PUBLISHABLE_KEY: `pk_test_${Buffer.from(`${this.frontendHost}$`).toString("base64")}`,
      CLERK_SECRET_KEY: "sk_test_standin",
      CLERK_JWT_KEY: this.keys.publicKey.export({ type: "spki", format: "pem" }).toString(),
      CLERK_WEBHOOK_SIGNING_SECRET: `whsec_${this.secret.toString("base64")}`,
      CLERK_API_URL: this.server?.url ?? "",
    };
  }

  /** Mints a session token with these claims and header fields instead of the usual ones. */
  mint(changed: object = {}, { header = {}, key = this.keys.privateKey as KeyObject } = {}): string {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: `https://${this.frontendHost}`,
      sub: "user_2ceo",
      sid: "sess_1",
      azp: "http://localhost:3000",
      iat: nowSeconds,
      nbf: nowSeconds - 10,
      exp: nowSeconds + 60,
    };
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const head = { alg: "RS256", kid: "ins_1", typ: "JWT", ...header };
    const signed = `${encode(head)}.${encode({ ...claims, ...changed })}`;
    return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
  }

  /** Delivers an event to a service's webhook, signed as Svix signs for Clerk. */
  deliver(service: Service, event: Pick<WebhookEvent, "type" | "data">): Promise<Answer> {
    const body = JSON.stringify({ object: "event", event_attributes: {}, ...event });
    const id = `msg_${randomBytes(12).toString("hex")}`;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", this.secret).update(`${id}.${timestamp}.${body}`).digest("base64");
    const headers = {
      "content-type": "application/json",
      "svix-id": id,
      "svix-timestamp": timestamp,
      "svix-signature": `v1,${signature}`,
    };
    return service.ask("/hooks/clerk", { method: "POST", headers, body });
  }

  /** Stores the cookies that a browser shall get from our server, and returns their nonce. */
  keepHandshake(directives: string[]): string {
    const nonce = randomBytes(12).toString("hex");
    this.handshakes.set(nonce, { directives });
    return nonce;
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }

  private async answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "", url = "" } = incoming;
    const body = JSON.parse((await text(incoming)) || "{}");
    this.requests.push({ method, path: url, body });
    if (this.fault === "hang") return;
    if (this.fault === "break") return void incoming.socket.destroy();
    const send = (status: number, answer: object) =>
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    if (this.fault === "forbid") return void send(401, { errors: [] });
    if (this.fault === "fail") return void send(500, {});
    if (this.fault === "busy") return void send(429, { errors: [] });
    if (this.fault === "refuse") {
      const error = { code: "form_param_format_invalid", message: "is invalid", long_message: "is invalid" };
      return void send(422, { errors: [error] });
    }
    if (url === "/v1/invitations")
      return void send(200, makeInvitation(body.email_address, this.frontendHost));
    const handshake = this.handshakes.get(url.split("handshake_payload?nonce=")[1] ?? "");
    if (handshake) return void send(200, handshake);
    const [, sessionId] = /^\/v1\/sessions\/(\w+)\/tokens$/.exec(url) ?? [];
    if (!sessionId) return void send(404, { errors: [] });
    const exp = Math.floor(Date.now() / 1000) + body.expires_in_seconds;
    const sub = this.sessions.get(sessionId) ?? "user_2ceo";
    const jwt = this.mint({ sub, sid: sessionId, exp, azp: undefined });
    const token: TokenJSON = { object: "token", jwt };
    send(200, token);
  }
}

function makeInvitation(email: string, frontendHost: string): InvitationJSON {
  return {
    object: "invitation",
    id: "inv_1",
    email_address: email,
    public_metadata: {},
    revoked: false,
    status: "pending",
    url: `https://${frontendHost}/v1/tickets/accept?ticket=abc`,
    created_at: 1,
    updated_at: 1,
  };
}

const verification = {
  id: "ver_1",
  // Clerk's deliveries contain this object, but its types do not.
  object: "verification" as "user",
  strategy: "ticket",
  attempts: null,
  expire_at: null,
} as const;

/** A user with one verified email, as far as the service reads it in the webhooks. */
export function makeUser(
  id: string,
  email: string,
  updatedAtMs: number,
  status: "verified" | "unverified" = "verified",
): UserJSON {
  const address: EmailAddressJSON = {
    object: "email_address",
    id: "idn_1",
    email_address: email,
    verification: { ...verification, status },
    linked_to: [],
  };
  return {
    object: "user",
    id,
    primary_email_address_id: "idn_1",
    email_addresses: [address],
    banned: false,
    locked: false,
    lockout_expires_in_seconds: null,
    created_at: 1,
    updated_at: updatedAtMs,
  } satisfies Partial<UserJSON> as UserJSON;
}

/** A deleted user, as in the webhooks. */
export function makeDeletedUser(id: string): UserDeletedJSON {
  return { object: "user", id, deleted: true };
}
