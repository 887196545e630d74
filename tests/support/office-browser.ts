import { Authenticator } from "@/tests/support/authenticator";
import { CookieJar } from "@/tests/support/cookie-jar";
import { reservePort } from "@/tests/support/port";
import { type Answer, type Environment, Service, sendTo } from "@/tests/support/service";

/** Starts a service with an office. */
export async function startWithOffice(environment: Environment): Promise<Service> {
  return Service.start({ ...environment, OFFICE_PORT: String(await reservePort()) });
}

/** The browser of an operator, with an authenticator in software. It follows no redirect and stores cookies. */
export class OfficeBrowser {
  readonly cookies = new CookieJar();
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

  async openLink(token: string): Promise<Answer> {
    const options = await this.submit("/enrol/options", { link: token }, { accept: "application/json" });
    if (options.status !== 200) return options;
    return this.post("/enrol/passkey", this.authenticator.create(JSON.parse(options.text)));
  }

  async signIn(): Promise<Answer> {
    const options = await this.post("/enter/options");
    return this.post("/enter/passkey", this.authenticator.get(JSON.parse(options.text)));
  }

  /** Uses the passkey again in the session. */
  async prove(): Promise<Answer> {
    const options = await this.post("/proof/options");
    return this.post("/proof/passkey", this.authenticator.get(JSON.parse(options.text)));
  }

  open(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("GET", path, "", headers);
  }

  /** Sends a form as a page of the office does. */
  submit(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string | undefined> = {},
  ): Promise<Answer> {
    const type = { "content-type": "application/x-www-form-urlencoded" };
    return this.send("POST", path, String(new URLSearchParams(fields)), { ...type, ...headers });
  }

  /** Sends JSON as the script of the office does. */
  post(path: string, body?: object): Promise<Answer> {
    return this.send("POST", path, body ? JSON.stringify(body) : "", { accept: "application/json" });
  }

  async send(
    method: string,
    path: string,
    body: string,
    headers: Record<string, string | undefined> = {},
  ): Promise<Answer> {
    const given = {
      host: new URL(this.url).host,
      accept: "text/html",
      ...(method === "POST" && { origin: this.url }),
      ...(this.cookies.size > 0 && { cookie: this.cookie }),
      ...headers,
    };
    const sent: Record<string, string> = {};
    for (const [name, value] of Object.entries(given)) if (value !== undefined) sent[name] = value;
    return this.cookies.keep(await sendTo(this.port, path, { method, headers: sent, body, from: this.from }));
  }

  get cookie(): string {
    return this.cookies.header;
  }
}

/** The state that a page's form was made from. */
export function seenBy(answer: Pick<Answer, "text">, action: string): string {
  const form = answer.text.split("<form").find((form) => form.includes(`action="${action}"`)) ?? "";
  return hiddenField({ text: form }, "seen");
}

/** The value of the first hidden field with this name. */
export function hiddenField({ text }: Pick<Answer, "text">, name: string): string {
  const [, value = ""] = new RegExp(`name="${name}" value="([^"]*)"`).exec(text) ?? [];
  return value
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
