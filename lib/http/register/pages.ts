import { type Route, read } from "@/lib/http/route";

/** A script that a page loads: for documents and for home, each with its style, for forms, or Clerk's if Clerk signs in. */
export type Script = "documents" | "pages" | "home" | "clerk";

/** A page for people. */
export type Page = Route & {
  /** Who may see it: anyone, a signed-in account, or anyone with the signed link of a mail. */
  access: "anyone" | "session" | "signed link";
  loads: readonly Script[];
  isCrawled: boolean;
  inSitemap: boolean;
  /** An app may open it in a window of its own that it waits for: what lies between its request and the answer. */
  isInAppsWindow?: true;
  /** How long our server shows the same copy of a shared page; by default, as long as it runs. */
  freshForMs?: number;
};

const open = {
  methods: read,
  limit: "pages",
  access: "anyone",
  isCrawled: true,
  inSitemap: true,
  loads: [],
} as const;
const closed = { ...open, isCrawled: false, inSitemap: false } as const;
/** What the link of a mail opens, with a form that answers it. */
const ofLink = { ...closed, access: "signed link", under: ["local"], loads: ["pages"] } as const;
const document = { ...open, isShared: true, loads: ["documents"] } as const;

/** The documents. Each is also available in Markdown, at its path with `.md`. */
export const documentPages = {
  quickStart: { path: "/docs", ...document },
  authentication: { path: "/docs/authentication", ...document },
  client: { path: "/docs/client", ...document },
  plans: { path: "/docs/plans", ...document },
  connectAnApp: { path: "/docs/connect", ...document },
  connectDesktop: { path: "/docs/connect/desktop", ...document },
  connectIphone: { path: "/docs/connect/iphone", ...document },
  connectAndroid: { path: "/docs/connect/android", ...document },
  connectExpo: { path: "/docs/connect/expo", ...document },
  connectTerminal: { path: "/docs/connect/terminal", ...document },
  connectWeb: { path: "/docs/connect/web", ...document },
  apiReference: { path: "/docs/api", ...document },
  healthOperation: { path: "/docs/api/health", ...document },
  siteBannerOperation: { path: "/docs/api/site-banner", ...document },
  entitlementOperation: { path: "/docs/api/entitlement", ...document },
  creditsBalanceOperation: { path: "/docs/api/credits-balance", ...document },
  unsubscribeOperation: { path: "/docs/api/unsubscribe", ...document },
  headers: { path: "/docs/api/headers", ...document },
  errorObject: { path: "/docs/api/error-object", ...document },
  webhooks: { path: "/docs/webhooks", ...document },
  errors: { path: "/docs/api/errors", ...document },
  limits: { path: "/docs/api/limits", ...document },
  policy: { path: "/docs/api/policy", ...document },
  mcp: { path: "/docs/mcp", ...document },
  support: { path: "/docs/support", ...document },
  privacy: { path: "/privacy", ...document },
  terms: { path: "/terms", ...document },
} as const satisfies Record<string, Page>;

const owned = { ...closed, access: "session", loads: ["home", "clerk"] } as const;

/** The owner's own pages, in the order of their tabs. */
export const ownerPages = {
  home: { path: "/home", name: "Home", ...owned },
  billing: { path: "/home/billing", name: "Billing", ...owned },
  access: { path: "/home/access", name: "Access", ...owned },
  account: { path: "/home/account", name: "Account", ...owned },
} as const satisfies Record<string, Page & { name: string }>;

/** Parts of the owner's page of access that have addresses of their own. */
const accessParts = {
  connectApp: { path: "/home/access/connect", name: "Connect an app", ...owned },
  developers: { path: "/home/access/developers", name: "For developers", ...owned },
} as const satisfies Record<string, Page & { name: string }>;

/** The register of pages. Plain data: adding one starts here. */
export const pages = {
  front: { path: "/", ...open, isShared: true, freshForMs: 60_000 },
  waitlist: { path: "/waitlist", ...open, isSharedWithoutCookies: true },
  signIn: {
    path: "/sign-in",
    ...open,
    inSitemap: false,
    loads: ["pages", "clerk"],
    isSharedWithoutCookies: true,
    isInAppsWindow: true,
  },
  code: { path: "/sign-in/code", ...closed, under: ["local"], loads: ["pages"], isInAppsWindow: true },
  invitation: { path: "/invitation", ...closed, access: "signed link", loads: ["pages", "clerk"] },
  ...ownerPages,
  ...accessParts,
  unsubscribe: {
    path: "/unsubscribe",
    ...closed,
    access: "signed link",
    methods: ["GET", "HEAD", "POST"],
    origin: "any",
    credential: "link",
    limit: "unsubscribe",
    takes: "unsubscribe",
  },
  keepAccount: { path: "/keep-account", ...ofLink },
  emailChange: { path: "/change-email", ...ofLink },
  connect: {
    path: "/connect",
    ...closed,
    under: ["local", "clerk"],
    loads: ["pages"],
    isInAppsWindow: true,
  },
  search: { path: "/docs/search", ...closed, loads: ["documents"] },
  changes: { path: "/changes", ...open, isShared: true },
  status: { path: "/status", ...open, inSitemap: false, isSharedWithoutCookies: true, freshForMs: 1000 },
  nothingHere: { path: "/nothing-here", ...closed, isShared: true },
  ...documentPages,
} as const satisfies Record<string, Page>;

/** The path of a document's Markdown form. */
export function markdownPath<Path extends Page["path"]>(path: Path): `${Path}.md` {
  return `${path}.md`;
}

/** Whether a route is a page. */
export function isPage(route: Route): route is Page {
  return "loads" in route;
}
