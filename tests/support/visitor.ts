import type { Answer, Service } from "@/tests/support/service";

/** A browser without scripts: it keeps the cookies that it is given, and comes from an address of its own. */
export class Visitor {
  readonly cookies = new Map<string, string>();

  /** @param address - as a trusted proxy in front of the service tells it */
  constructor(
    private readonly service: Service,
    readonly address: string = newAddress(),
  ) {}

  open(path: string): Promise<Answer> {
    return this.keep(this.service.ask(path, { headers: this.headers }));
  }

  /** Posts a form of ours. */
  submit(path: string, fields: Record<string, string> = {}): Promise<Answer> {
    return this.keep(this.service.submit(path, fields, { headers: this.headers }));
  }

  /** What the API says of the session that this browser has. */
  async status(): Promise<number> {
    return (await this.service.ask("/api/entitlement", { headers: this.headers })).status;
  }

  private get headers(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return { "x-forwarded-for": this.address, ...(cookie ? { cookie } : {}) };
  }

  private async keep(asked: Promise<Answer>): Promise<Answer> {
    const answer = await asked;
    for (const cookie of answer.headers["set-cookie"] ?? []) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value) this.cookies.set(name, value);
      else this.cookies.delete(name);
    }
    return answer;
  }
}

let addresses = 0;

/** An address that no other visitor of this test comes from. */
function newAddress(): string {
  addresses++;
  return `10.3.${addresses >> 8}.${addresses & 255}`;
}
