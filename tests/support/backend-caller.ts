import { createPrivateKey, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { recordAnswer } from "@/tests/support/answers";
import { expectDescribed } from "@/tests/support/backend-description";
import { reservePort } from "@/tests/support/port";
import { type Answer, type Environment, type Service, sendTo } from "@/tests/support/service";

/** The settings of a service with a backend API. */
export const withBackendApi = async (environment: Environment = {}): Promise<Environment> => ({
  ...environment,
  BACKEND_PORT: String(await reservePort()),
});

let keys = 0;

/** One of the operator's own systems, which calls the backend API. */
export class BackendCaller {
  readonly port: number;
  readonly url: string;
  nowMs = () => Date.now();

  constructor(
    { environment }: Service,
    readonly id: string,
    readonly privateKey: KeyObject,
  ) {
    this.port = Number(environment.BACKEND_PORT);
    this.url = environment.BACKEND_URL ?? `http://localhost:${this.port}`;
  }

  /** Adds a backend in the shell, with the pair that the command makes. */
  static async add(service: Service, id: string, may = "read,spend"): Promise<BackendCaller> {
    const added = await service.adminJson<{ privateKey: string }>("backend", "add", id, "--may", may);
    return new BackendCaller(service, id, createPrivateKey(added.privateKey));
  }

  /** Signs an assertion of a minute, unless the claims say otherwise. */
  sign(claims: Record<string, unknown> = {}, alg = "EdDSA"): Promise<string> {
    const nowSeconds = Math.floor(this.nowMs() / 1000);
    return new SignJWT({ iss: this.id, aud: this.url, iat: nowSeconds, exp: nowSeconds + 60, ...claims })
      .setProtectedHeader({ alg })
      .sign(this.privateKey);
  }

  async get(path: string): Promise<Answer> {
    return this.send(path, { headers: { authorization: `Bearer ${await this.sign()}` } });
  }

  async post(path: string, body: unknown, key = `key-${keys++}`): Promise<Answer> {
    const headers = { authorization: `Bearer ${await this.sign()}`, "idempotency-key": key };
    return this.send(path, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }

  /** Sends a request, and checks and records the answer. */
  async send(path: string, options: Omit<Parameters<typeof sendTo>[2], "from">): Promise<Answer> {
    const answer = await sendTo(this.port, path, { from: "127.0.0.1", ...options });
    const { status, headers, text: body } = answer;
    const seen = {
      from: "the backend API",
      method: options.method ?? "GET",
      path,
      status,
      headers,
      body,
    } as const;
    expectDescribed({ ...seen, path: path.replace(/\?.*/, "") });
    recordAnswer(seen);
    return answer;
  }
}
