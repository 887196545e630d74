import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type {
  ClerkAPIErrorJSON,
  ClientJSON,
  EnvironmentJSON,
  SessionJSON,
  SignInJSON,
  SignUpJSON,
  TokenJSON,
} from "@clerk/shared/types";
import { certificate } from "@/tests/support/certificate";
import type { ClerkInstance } from "@/tests/support/clerk-instance";
import { environment, session, signIn, signUp } from "./clerk-objects";
import { fetchClerkScripts, findScript } from "./clerk-scripts";

/** Clerk's state of one browser. */
type Client = { signIn?: SignInJSON; signUp?: SignUpJSON; session?: { id: string; email: string } };

type Resource = SignInJSON | SignUpJSON | SessionJSON | ClientJSON;
type Answer =
  | { response: Resource | null; client: ClientJSON | null }
  | EnvironmentJSON
  | TokenJSON
  | { id: string }
  | { errors: ClerkAPIErrorJSON[] };

/**
 * A fake of the Frontend API of a Clerk development instance. The browser resolves its host to this server, and
 * Clerk's own scripts talk to it. Responses have the types that Clerk publishes.
 */
export class ClerkFrontend {
  /** Clerk's scripts treat only hosts of this domain as development instances. */
  static readonly host = "corner-office-1.clerk.accounts.dev";
  /** The sign-in code that it accepts. */
  static readonly code = "424242";
  /** User ids, by email. */
  readonly users = new Map<string, string>();
  private readonly clients = new Map<string, Client>();
  private constructor(
    private readonly instance: ClerkInstance,
    private readonly server: Server,
  ) {}

  static async start(instance: ClerkInstance): Promise<ClerkFrontend> {
    fetchClerkScripts();
    const server = createServer(certificate());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const frontend = new ClerkFrontend(instance, server);
    server.on("request", (incoming, outgoing) => frontend.answer(incoming, outgoing));
    return frontend;
  }

  /** Adds a user and returns the id. */
  addUser(email: string): string {
    const id = newId("user");
    this.users.set(email, id);
    return id;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? "", `https://${ClerkFrontend.host}`);
    const origin = incoming.headers.origin ?? "";
    if (origin) {
      outgoing.setHeader("access-control-allow-origin", origin);
      outgoing.setHeader("access-control-allow-credentials", "true");
    }
    const script = findScript(url.pathname);
    if (script) return void this.sendFile(script, outgoing);
    const form = new URLSearchParams(await text(incoming));
    const browser = url.searchParams.get("__clerk_db_jwt") ?? "";
    const method = url.searchParams.get("_method") ?? incoming.method;
    const leadTo = (location: string) => outgoing.writeHead(307, { location }).end();

    if (url.pathname === "/v1/client/handshake") return void leadTo(this.shakeHands(url, browser));
    if (url.pathname === "/v1/tickets/accept") return void leadTo(this.leadToSignUp(url));
    const answer = this.answerScript(`${method} ${url.pathname}`, form, origin, browser);
    outgoing.writeHead("errors" in answer ? 422 : 200, { "content-type": "application/json" });
    outgoing.end(JSON.stringify(answer));
  }

  private sendFile(path: string, outgoing: ServerResponse): void {
    outgoing.setHeader("content-type", "text/javascript");
    createReadStream(path)
      .on("error", () => outgoing.writeHead(404).end())
      .pipe(outgoing);
  }

  /** Performs the handshake: stores the browser's state, which our server fetches from the Backend API. */
  private shakeHands(url: URL, browser: string): string {
    const back = new URL(url.searchParams.get("redirect_url") ?? "");
    const known = this.clients.has(browser) ? browser : this.meet();
    const { session } = this.clientOf(known);
    const uat = session ? Math.floor(Date.now() / 1000) - 1 : 0;
    const cookies = [`__clerk_db_jwt=${known}; Path=/`, `__client_uat=${uat}; Path=/`];
    cookies.push(
      session ? `__session=${this.mint(session, back.origin)}; Path=/` : "__session=; Path=/; Max-Age=0",
    );
    back.searchParams.set("__clerk_handshake_nonce", this.instance.keepHandshake(cookies));
    return back.href;
  }

  /** Redirects an invitation's link to the page that it was made for, with its ticket. */
  private leadToSignUp(url: URL): string {
    const page = new URL(this.findInvitation().redirect_url);
    page.searchParams.set("__clerk_ticket", url.searchParams.get("ticket") ?? "");
    page.searchParams.set("__clerk_status", "sign_up");
    return page.href;
  }

  private findInvitation() {
    const made = this.instance.requests.findLast(({ path }) => path === "/v1/invitations");
    return made?.body as { email_address: string; redirect_url: string };
  }

  private answerScript(route: string, form: URLSearchParams, origin: string, browser: string): Answer {
    if (route === "POST /v1/dev_browser") return { id: this.meet() };
    if (route.endsWith(" /v1/environment")) return environment;
    const client = this.clientOf(browser);
    const wrap = (response: Resource | null) => ({ response, client: this.show(client, origin) });
    switch (route.replace(/(?<=\/(sessions|sign_ins)\/)\w+/, "*")) {
      case "GET /v1/client":
        return { response: this.show(client, origin), client: null };
      case "POST /v1/client/sign_ins": {
        const email = form.get("identifier") ?? "";
        if (!this.users.has(email)) return refuse("form_identifier_not_found", "identifier");
        client.signIn = signIn(email, null);
        return wrap(client.signIn);
      }
      case "POST /v1/client/sign_ins/*/prepare_first_factor":
        return wrap(client.signIn ?? null);
      case "POST /v1/client/sign_ins/*/attempt_first_factor": {
        if (form.get("code") !== ClerkFrontend.code) return refuse("form_code_incorrect", "code");
        const email = client.signIn?.identifier ?? "";
        client.session = this.open(email);
        client.signIn = signIn(email, client.session.id);
        return wrap(client.signIn);
      }
      case "POST /v1/client/sign_ups": {
        if (form.get("ticket") !== "abc") return refuse("ticket_invalid_code", "ticket");
        const { email_address: email } = this.findInvitation();
        const userId = this.addUser(email);
        client.session = this.open(email);
        client.signUp = signUp(email, userId, client.session.id);
        return wrap(client.signUp);
      }
      case "POST /v1/client/sessions/*/touch":
        return wrap(this.show(client, origin).sessions[0] ?? null);
      case "POST /v1/client/sessions/*/tokens":
        return client.session
          ? { object: "token", id: "tok_1", jwt: this.mint(client.session, origin) }
          : refuse("resource_not_found", "session");
      case "DELETE /v1/client/sessions":
      case "POST /v1/client/sessions/*/remove":
        delete client.session;
        return wrap(this.show(client, origin));
      default:
        throw new Error(`Clerk's scripts ask for ${route}, which the stand-in does not know`);
    }
  }

  private open(email: string) {
    const id = newId("sess");
    this.instance.sessions.set(id, this.users.get(email) ?? "");
    return { id, email };
  }

  /** Registers a browser and returns its id. */
  private meet(): string {
    const browser = newId("dvb");
    this.clients.set(browser, {});
    return browser;
  }

  private clientOf(browser: string): Client {
    const client = this.clients.get(browser);
    if (!client) throw new Error("Clerk's scripts come from an unknown browser");
    return client;
  }

  private show({ signIn, signUp, session: open }: Client, origin: string): ClientJSON {
    const userId = this.users.get(open?.email ?? "") ?? "";
    return {
      object: "client",
      id: "client_1",
      sessions: open ? [session(open.id, userId, open.email, this.mint(open, origin))] : [],
      sign_in: signIn && !signIn.created_session_id ? signIn : null,
      sign_up: signUp && !signUp.created_session_id ? signUp : null,
      last_active_session_id: open?.id ?? null,
      last_authentication_strategy: null,
      cookie_expires_at: null,
      created_at: 1,
      updated_at: Date.now(),
    };
  }

  private mint({ id, email }: { id: string; email: string }, origin: string): string {
    return this.instance.mint({ sub: this.users.get(email), sid: id, azp: origin });
  }
}

const newId = (prefix: string) => `${prefix}_${randomUUID().replaceAll("-", "")}`;

function refuse(code: string, paramName: string): { errors: ClerkAPIErrorJSON[] } {
  const message = "That is not right.";
  return { errors: [{ code, message, long_message: message, meta: { param_name: paramName } }] };
}
