import { type IncomingHttpHeaders, request } from "node:http";
import { Authenticator } from "@/tests/support/authenticator";
import { reservePort } from "@/tests/support/port";
import { type Environment, Service } from "@/tests/support/service";

export type OfficeAnswer = { status: number; headers: IncomingHttpHeaders; text: string };

/** Starts a service with an office. */
export async function startWithOffice(environment: Environment): Promise<Service> {
  return Service.start({ ...environment, OFFICE_PORT: String(await reservePort()) });
}

/** The browser of an operator, with an authenticator in software. It follows no redirect and stores cookies. */
export class OfficeBrowser {
  readonly cookies = new Map<string, string>();
  readonly authenticator: Authenticator;
  readonly port: number;
  readonly url: string;

  /** The loopback address that it sends from. */
  from = "127.0.0.1";

  constructor({ environment }: Service, authenticator?: Authenticator) {
    this.port = Number(environment.OFFICE_PORT);
    this.url = environment.OFFICE_URL ?? `http://localhost:${this.port}`;
    this.authenticator = authenticator ?? new Authenticator(this.url);
  }

  /** Adds an operator in the shell, and enrols a passkey with the printed link. */
  static async enrol(service: Service, name: string): Promise<OfficeBrowser> {
    const browser = new OfficeBrowser(service);
    const { url } = await service.adminJson<{ url: string }>("operator", "add", name);
    const answer = await browser.openLink(new URL(url).hash.slice(1));
    if (answer.status !== 200) throw new Error(`the link was refused: ${answer.text}`);
    return browser;
  }

  async openLink(token: string): Promise<OfficeAnswer> {
    const options = await this.submit("/enrol/options", { link: token }, { accept: "application/json" });
    if (options.status !== 200) return options;
    return this.post("/enrol/passkey", this.authenticator.create(JSON.parse(options.text)));
  }

  async signIn(): Promise<OfficeAnswer> {
    const options = await this.post("/enter/options");
    return this.post("/enter/passkey", this.authenticator.get(JSON.parse(options.text)));
  }

  /** Uses the passkey again in the session. */
  async prove(): Promise<OfficeAnswer> {
    const options = await this.post("/proof/options");
    return this.post("/proof/passkey", this.authenticator.get(JSON.parse(options.text)));
  }

  open(path: string, headers: Record<string, string> = {}): Promise<OfficeAnswer> {
    return this.send("GET", path, "", headers);
  }

  /** Sends a form as a page of the office does. */
  submit(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string | undefined> = {},
  ): Promise<OfficeAnswer> {
    const type = { "content-type": "application/x-www-form-urlencoded" };
    return this.send("POST", path, String(new URLSearchParams(fields)), { ...type, ...headers });
  }

  /** Sends JSON as the script of the office does. */
  post(path: string, body?: object): Promise<OfficeAnswer> {
    return this.send("POST", path, body ? JSON.stringify(body) : "", { accept: "application/json" });
  }

  send(
    method: string,
    path: string,
    body: string,
    headers: Record<string, string | undefined> = {},
  ): Promise<OfficeAnswer> {
    const given = {
      host: new URL(this.url).host,
      accept: "text/html",
      ...(method === "POST" && { origin: this.url }),
      ...(this.cookies.size > 0 && { cookie: this.cookie }),
      ...headers,
    };
    const sent = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    return new Promise((resolve, reject) => {
      const { port, from: localAddress } = this;
      const to = { host: "127.0.0.1", localAddress, port, path, method, headers: sent, agent: false };
      const sending = request(to, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.once("end", () => {
          const { statusCode: status = 0, headers } = response;
          this.keep(headers["set-cookie"] ?? []);
          resolve({ status, headers, text });
        });
        response.once("error", reject);
      });
      sending.once("error", reject);
      sending.end(body);
    });
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  private keep(lines: string[]): void {
    for (const line of lines) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

/** The state that a page's form was made from. */
export function seenBy(answer: Pick<OfficeAnswer, "text">, action: string): string {
  const form = answer.text.split("<form").find((form) => form.includes(`action="${action}"`)) ?? "";
  return hiddenField({ text: form }, "seen");
}

/** The value of the first hidden field with this name. */
export function hiddenField({ text }: Pick<OfficeAnswer, "text">, name: string): string {
  const [, value = ""] = new RegExp(`name="${name}" value="([^"]*)"`).exec(text) ?? [];
  return value
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
