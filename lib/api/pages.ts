import type { bodyLimits } from "@/lib/settings/limits";
import type { SignIn } from "@/lib/settings/settings";

/** What there is at an address outside `/api` and `/mcp`, as the door and the hall of pages read it. */
export type Place = {
  /** The exact path; any other spelling is another address. */
  path: `/${string}`;
  /** What `Allow` lists, in this order. */
  methods: readonly ("GET" | "HEAD" | "POST")[];
  /** Which bound its POST's body has; without one it takes no body. */
  takes?: keyof typeof bodyLimits;
  /** The kinds of sign-in under which it is there; under others it is a 404. */
  under?: readonly SignIn["kind"][];
  /** Shared caches may keep its answers. */
  isShared?: true;
};

/** A page that people open. */
export type Page = Place & {
  made: "at build" | "for each request";
  /** Who may see it: anyone, an account's session, or whoever holds the link of a mail. */
  access: "anyone" | "session" | "signed link";
  /** The scripts it loads: ours, and Clerk's where Clerk signs in. */
  loads: readonly ("ours" | "clerk")[];
  /** Whether a crawler may read it. */
  isCrawled: boolean;
  inSitemap: boolean;
};

const read = ["GET", "HEAD"] as const;
const post = ["POST"] as const;

const document = {
  methods: read,
  isShared: true,
  made: "at build",
  access: "anyone",
  loads: ["ours"],
  isCrawled: true,
  inSitemap: true,
} as const;

/** The documents, each of which is there in Markdown too: at its path and `.md`. */
export const documentPages = {
  quickStart: { path: "/docs", ...document },
  authentication: { path: "/docs/authentication", ...document },
  apiReference: { path: "/docs/api", ...document },
  errors: { path: "/docs/api/errors", ...document },
  limits: { path: "/docs/api/limits", ...document },
  policy: { path: "/docs/api/policy", ...document },
  mcp: { path: "/docs/mcp", ...document },
} as const satisfies Record<string, Page>;

const rendered = { methods: read, made: "for each request", access: "anyone" } as const;

/** The register of pages. Plain data: adding one starts here. */
export const pages = {
  front: { path: "/", ...rendered, loads: ["ours"], isCrawled: true, inSitemap: true },
  waitlist: { path: "/waitlist", ...rendered, loads: ["ours"], isCrawled: true, inSitemap: true },
  signIn: { path: "/sign-in", ...rendered, loads: ["ours", "clerk"], isCrawled: true, inSitemap: false },
  code: {
    path: "/sign-in/code",
    ...rendered,
    loads: ["ours"],
    under: ["local"],
    isCrawled: false,
    inSitemap: false,
  },
  invitation: {
    path: "/invitation",
    ...rendered,
    access: "signed link",
    loads: ["ours", "clerk"],
    isCrawled: false,
    inSitemap: false,
  },
  home: {
    path: "/home",
    ...rendered,
    access: "session",
    loads: ["ours", "clerk"],
    isCrawled: false,
    inSitemap: false,
  },
  unsubscribe: {
    path: "/unsubscribe",
    ...rendered,
    methods: ["GET", "HEAD", "POST"],
    takes: "unsubscribe",
    access: "signed link",
    loads: [],
    isCrawled: false,
    inSitemap: false,
  },
  search: { path: "/docs/search", ...rendered, loads: ["ours"], isCrawled: false, inSitemap: false },
  ...documentPages,
} as const satisfies Record<string, Page>;

const form = { methods: post, takes: "form" } as const;

/** What the pages post to and ask for: forms, and what their scripts fetch. */
export const actions = {
  joinWaitlist: { path: "/waitlist/join", ...form, under: ["local", "clerk"] },
  acceptInvitation: { path: "/invitation/accept", ...form, under: ["local"] },
  sendCode: { path: "/sign-in/send", ...form, under: ["local"] },
  redeemCode: { path: "/sign-in/redeem", ...form, under: ["local"] },
  signOut: { path: "/sign-in/out", ...form, under: ["local"] },
  renewSession: { path: "/sign-in/renew", methods: ["GET", "HEAD", "POST"], under: ["local"] },
  mintToken: { path: "/home/token", methods: post, under: ["local", "clerk"] },
  findHits: { path: "/docs/search.json", methods: read, isShared: true },
} as const satisfies Record<string, Place>;

/** What our providers call. */
export const hooks = {
  clerk: { path: "/hooks/clerk", methods: post, takes: "webhook" },
  resend: { path: "/hooks/resend", methods: post, takes: "webhook" },
} as const satisfies Record<string, Place>;

const published = { methods: read, isShared: true } as const;

/** What programs read. */
export const publications = {
  openApi: { path: "/openapi.json", ...published },
  llms: { path: "/llms.txt", ...published },
  jwks: { path: "/.well-known/jwks.json", ...published },
  apiCatalog: { path: "/.well-known/api-catalog", ...published },
  securityTxt: { path: "/.well-known/security.txt", ...published },
  sitemap: { path: "/sitemap.xml", ...published },
  robots: { path: "/robots.txt", ...published },
} as const satisfies Record<string, Place>;

/** The files of `public/`. */
export const files = {
  icon: { path: "/favicon.ico", ...published },
  vectorIcon: { path: "/favicon.svg", ...published },
  touchIcon: { path: "/apple-touch-icon.png", ...published },
  socialCard: { path: "/social-card.png", ...published },
  unsubscribeStyle: { path: "/unsubscribe.css", ...published },
} as const satisfies Record<string, Place>;

/** The framework's names of the routes that answer at many addresses; the previews of mails, in development alone. */
export const routesOfMany = [
  "/docs/[[...path]]",
  "/markdown/[...path]",
  "/previews/emails/[[...name]]",
] as const;

/** The path of a document's Markdown form. */
export function markdownPath<Path extends Page["path"]>(path: Path): `${Path}.md` {
  return `${path}.md`;
}

const markdownForms = Object.values(documentPages).map(
  ({ path }): Place => ({ path: markdownPath(path), ...published }),
);

/** Everything that has an address outside `/api` and `/mcp`. */
export const places: readonly Place[] = [
  ...[pages, actions, hooks, publications, files].flatMap((table) => Object.values<Place>(table)),
  ...markdownForms,
];
