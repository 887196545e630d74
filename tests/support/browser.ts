import { CookieJar } from "@/tests/support/cookie-jar";
import { codesTo, newCodeTo } from "@/tests/support/mailbox";
import type { Answer, Service } from "@/tests/support/service";
import { makeCode } from "@/tests/support/sign-in-code";

const chromium = {
  "user-agent":
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
  "sec-ch-ua": '"Chromium";v="156", "Not=A?Brand";v="99"',
};

let opened = 0;

/** A loopback address that no other browser of this test uses. */
function newAddress(): string {
  opened++;
  return `127.${50 + (process.pid % 100)}.${Math.floor(opened / 254)}.${(opened % 254) + 1}`;
}

/** A browser without scripts: it has its own client address and stores cookies. */
export class Browser {
  readonly cookies = new CookieJar();

  /** @param address - the client address; also sent as a proxy would, for a service that trusts one */
  constructor(
    private readonly service: Service,
    readonly address: string = newAddress(),
  ) {}

  /** Signs a new browser in to an account of local sign-in, with a code that is not mailed. */
  static async signIn(service: Service, email: string): Promise<Browser> {
    const browser = new Browser(service);
    const made = await makeCode(service, email);
    const prefix = service.url.startsWith("https:") ? "__Host-" : "";
    browser.cookies.set(`${prefix}office-code`, made.browser);
    const redeem = async () =>
      (await browser.submit("/sign-in/redeem", { code: made.code })).headers.location;
    let location = await redeem();
    // On a busy machine PostgreSQL misses its two seconds at times, and the page says to try again.
    if (location?.includes("problem=unavailable")) location = await redeem();
    if (location !== "/home") throw new Error(`signed in to ${location}`);
    return browser;
  }

  /** Signs in with the code that is mailed, also where it is signed in already. Returns where that leads. */
  async redeem(email: string, { back = "" } = {}): Promise<string | undefined> {
    const { dataDir } = this.service;
    const earlier = await codesTo(dataDir, email);
    await this.submit("/sign-in/send", { email, ...(back && { back }) });
    const code = await newCodeTo(dataDir, email, earlier);
    return (await this.submit("/sign-in/redeem", { code })).headers.location;
  }

  /** Opens an account and signs its owner in. */
  static async admit(service: Service, email: string, ...terms: string[]): Promise<Browser> {
    await service.adminJson("account", "add", email, ...terms);
    return Browser.signIn(service, email);
  }

  /** Its `Cookie` header. */
  get cookie(): string {
    return this.cookies.header;
  }

  /** The value of one cookie. */
  valueOf(name: string): string {
    return this.cookies.get(name) ?? "";
  }

  /** Posts a page's form. */
  async submit(
    path: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const sent = { ...this.headers, ...headers };
    return this.cookies.keep(await this.service.submit(path, fields, { from: this.address, headers: sent }));
  }

  /** Posts a body as a page's script does. */
  async post(
    path: string,
    body: string | Buffer = "",
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const sent = { origin: this.service.url, ...this.headers, ...headers };
    return this.cookies.keep(
      await this.service.ask(path, { method: "POST", from: this.address, headers: sent, body }),
    );
  }

  /** Opens a page. */
  async open(path: string): Promise<Answer> {
    return this.cookies.keep(await this.service.ask(path, { from: this.address, headers: this.headers }));
  }

  /** Presses a button on one of the owner's pages, whose forms name the account that the page shows. */
  async pressAtHome(path: string, fields: Record<string, string> = {}): Promise<Answer> {
    const { text } = await this.open("/home/account");
    const [, account = ""] = /name="account" value="([^"]+)"/.exec(text) ?? [];
    return this.submit(path, { account, ...fields });
  }

  /** The API's status for its session. */
  async status(): Promise<number> {
    return (await this.service.ask("/api/entitlement", { headers: this.headers })).status;
  }

  private get headers(): Record<string, string> {
    return { ...chromium, cookie: this.cookie, "x-forwarded-for": this.address };
  }
}
