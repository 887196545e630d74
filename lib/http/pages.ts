import type { Route } from "@/lib/http/route";

/** A script that a page loads: for documents, for forms, for home, or Clerk's if Clerk signs in. */
export type Script = "documents" | "pages" | "home" | "clerk";

/** A page for people. */
export type Page = Route & {
  /** Who may see it: anyone, a signed-in account, or anyone with the signed link of a mail. */
  access: "anyone" | "session" | "signed link";
  loads: readonly Script[];
  /** Whether a crawler may read it. */
  isCrawled: boolean;
  inSitemap: boolean;
  /** How long our server shows the same copy of a shared page; by default, as long as it runs. */
  freshForMs?: number;
};

const read = ["GET", "HEAD"] as const;
const post = ["POST"] as const;

const open = {
  methods: read,
  limit: "pages",
  access: "anyone",
  isCrawled: true,
  inSitemap: true,
  loads: [],
} as const;
const closed = { ...open, isCrawled: false, inSitemap: false } as const;
const document = { ...open, isShared: true, loads: ["documents"] } as const;

/** The documents. Each is also available in Markdown, at its path with `.md`. */
export const documentPages = {
  quickStart: { path: "/docs", ...document },
  authentication: { path: "/docs/authentication", ...document },
  connectAnApp: { path: "/docs/connect", ...document },
  client: { path: "/docs/client", ...document },
  apiReference: { path: "/docs/api", ...document },
  healthOperation: { path: "/docs/api/health", ...document },
  siteBannerOperation: { path: "/docs/api/site-banner", ...document },
  entitlementOperation: { path: "/docs/api/entitlement", ...document },
  creditsBalanceOperation: { path: "/docs/api/credits-balance", ...document },
  unsubscribeOperation: { path: "/docs/api/unsubscribe", ...document },
  headers: { path: "/docs/api/headers", ...document },
  errorObject: { path: "/docs/api/error-object", ...document },
  errors: { path: "/docs/api/errors", ...document },
  limits: { path: "/docs/api/limits", ...document },
  policy: { path: "/docs/api/policy", ...document },
  mcp: { path: "/docs/mcp", ...document },
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
  },
  code: { path: "/sign-in/code", ...closed, under: ["local"], loads: ["pages"] },
  invitation: { path: "/invitation", ...closed, access: "signed link", loads: ["pages", "clerk"] },
  ...ownerPages,
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
  keepAccount: {
    path: "/keep-account",
    ...closed,
    access: "signed link",
    under: ["local"],
    loads: ["pages"],
  },
  connect: { path: "/connect", ...closed, under: ["local", "clerk"], loads: ["pages"] },
  search: { path: "/docs/search", ...closed, loads: ["documents"] },
  changes: { path: "/changes", ...open, isShared: true },
  status: { path: "/status", ...open, inSitemap: false, isSharedWithoutCookies: true, freshForMs: 1000 },
  nothingHere: { path: "/nothing-here", ...closed, isShared: true },
  ...documentPages,
} as const satisfies Record<string, Page>;

const form = { methods: post, origin: "own", takes: "form", limit: "forms" } as const;

/** Asks for a challenge, which uses no store. */
const challenge = { methods: post, origin: "own", limit: "challenges", under: ["local"] } as const;

/** A form on one of the owner's pages. */
const owners = { ...form, under: ["local", "clerk"], credential: "owner" } as const;
const onAccess = { ...owners, page: ownerPages.access.path } as const;
const ownPasskeys = { ...onAccess, under: ["local"] } as const;
const onAccount = { ...owners, page: ownerPages.account.path } as const;
const ownAccount = { ...onAccount, under: ["local"] } as const;
const onBilling = { ...owners, page: ownerPages.billing.path, needsBilling: true } as const;

const ofWaitlist = { ...form, under: ["local", "clerk"], page: pages.waitlist.path } as const;
const onConnect = { ...form, under: ["local", "clerk"], page: pages.connect.path } as const;

/** The steps of our own sign-in. One route handler answers all of them. */
export const signInActions = {
  sendCode: { path: "/sign-in/send", ...form, under: ["local"], needsCookies: true, page: pages.signIn.path },
  redeemCode: { path: "/sign-in/redeem", ...form, under: ["local"], page: pages.code.path },
  askForPasskey: { path: "/sign-in/passkey/options", ...challenge },
  signInWithPasskey: { path: "/sign-in/passkey", ...form, takes: "passkey", under: ["local"] },
  signOut: { path: "/sign-in/out", ...form, limit: "signOut", under: ["local"] },
  renewSession: {
    path: "/sign-in/renew",
    methods: ["GET", "HEAD", "POST"],
    origin: "own",
    limit: "renewals",
    under: ["local"],
  },
} as const satisfies Record<string, Route>;

/** What the owner's pages send: their forms, and what their script fetches. One route handler answers all of them. */
export const ownerActions = {
  endSession: { path: "/home/sessions/end", ...onAccess },
  keepApps: { path: "/home/sessions/keep", ...onAccess, notImpersonated: "app keep refused" },
  switchAppMails: { path: "/home/app-mails", ...onAccess },
  startPasskey: { path: "/home/passkeys/options", ...ownPasskeys, limit: "challenges", needsProof: true },
  addPasskey: { path: "/home/passkeys/add", ...ownPasskeys, takes: "passkey", needsProof: true },
  renamePasskey: { path: "/home/passkeys/rename", ...ownPasskeys },
  removePasskey: { path: "/home/passkeys/remove", ...ownPasskeys, needsProof: true },
  declinePasskeys: { path: "/home/passkeys/decline", ...ownPasskeys, page: ownerPages.home.path },
  exportPerson: { path: "/home/export", ...onAccount },
  leave: { path: "/home/account/delete", ...ownAccount, needsProof: true },
  stay: { path: "/home/account/keep", ...ownAccount },
  beginCheckout: { path: "/home/checkout", ...onBilling, notImpersonated: "checkout refused" },
  openPortal: { path: "/home/portal", ...onBilling, notImpersonated: "billing portal refused" },
  mintToken: { path: "/home/token", ...onAccess, notImpersonated: "token refused" },
} as const satisfies Record<string, Route>;

/** The targets of forms, and what the scripts of pages fetch. */
export const actions = {
  ...signInActions,
  ...ownerActions,
  joinWaitlist: { path: "/waitlist/join", ...ofWaitlist },
  confirmWaitlist: { path: "/waitlist/confirm", ...ofWaitlist },
  acceptInvitation: { path: "/invitation/accept", ...form, under: ["local"], needsCookies: true },
  findDevice: { path: "/connect/device", ...onConnect, needsCookies: true },
  answerApp: { path: "/connect/answer", ...onConnect },
  keepAccount: { path: "/keep-account/confirm", ...form, under: ["local"] },
  /** Where Stripe Checkout sends the browser back to. */
  returnFromCheckout: {
    path: "/home/checkout/return",
    methods: read,
    limit: "forms",
    under: ["local", "clerk"],
  },
  findHits: { path: "/docs/search.json", methods: read, limit: "pages" },
  dismissNotice: { path: "/notice/dismiss", ...form },
} as const satisfies Record<string, Route>;

const sentByMcpClients = "Authorization, Content-Type, MCP-Protocol-Version";

const endpoint = {
  methods: ["POST", "OPTIONS"],
  origin: "any",
  limit: "exchanges",
  takes: "form",
  under: ["local", "clerk"],
  anyOrigin: { sends: sentByMcpClients, reads: "Retry-After, WWW-Authenticate" },
} as const;

/** The endpoints of the authorization server (RFC 6749, RFC 8628, RFC 7009, RFC 7591). */
export const connectEndpoints = {
  authorization: { path: "/oauth/authorize", methods: read, limit: "connect", under: ["local", "clerk"] },
  /** Where the browser continues after the owner has answered. */
  resume: { path: "/oauth/resume", methods: read, limit: "exchanges", under: ["local", "clerk"] },
  token: { path: "/oauth/token", ...endpoint },
  device: { path: "/oauth/device", ...endpoint, limit: "connect" },
  revocation: { path: "/oauth/revoke", ...endpoint },
  registration: { path: "/oauth/register", ...endpoint, limit: "registrations", onlyWithRegistration: true },
} as const satisfies Record<string, Route>;

const hook = {
  methods: post,
  site: "api",
  origin: "any",
  limit: "webhooks",
  takes: "webhook",
  credential: "signature",
} as const;

/** Webhooks of our providers. */
export const hooks = {
  clerk: { path: "/hooks/clerk", ...hook },
  resend: { path: "/hooks/resend", ...hook },
  stripe: { path: "/hooks/stripe", ...hook, needsBilling: true },
} as const satisfies Record<string, Route>;

/** For load balancers. */
export const probes = { ready: { path: "/ready", methods: read } } as const satisfies Record<string, Route>;

const file = { methods: read, isShared: true } as const;
const fromAnywhere = {
  methods: ["GET", "HEAD", "OPTIONS"],
  anyOrigin: { sends: sentByMcpClients, reads: "ETag, Link" },
} as const;
const published = { ...file, ...fromAnywhere, caching: "public, max-age=300" } as const;
const forConnecting = { ...published, under: ["local", "clerk"], takesSlash: true } as const;

/** Published for programs. */
export const publications = {
  openApi: { path: "/openapi.json", ...published },
  llms: { path: "/llms.txt", ...published },
  llmsFull: { path: "/llms-full.txt", ...published },
  statusData: { path: "/status.json", ...published, caching: "public, max-age=1" },
  changesFeed: { path: "/changes.atom", ...published },
  /** Not kept in memory: a revoked key has to disappear at once. */
  jwks: { path: "/.well-known/jwks.json", ...fromAnywhere, caching: "public, max-age=30" },
  relatedOrigins: { path: "/.well-known/webauthn", ...published },
  authorizationServer: { path: "/.well-known/oauth-authorization-server", ...forConnecting },
  openIdConfiguration: { path: "/.well-known/openid-configuration", ...forConnecting },
  wholeResource: { path: "/.well-known/oauth-protected-resource", ...forConnecting },
  apiResource: { path: "/.well-known/oauth-protected-resource/api", ...forConnecting },
  mcpResource: { path: "/.well-known/oauth-protected-resource/mcp", ...forConnecting },
  mcpAccountResource: { path: "/.well-known/oauth-protected-resource/mcp/account", ...forConnecting },
  mcpResourceUnderApi: { path: "/.well-known/oauth-protected-resource/api/mcp", ...forConnecting },
  mcpServer: { path: "/.well-known/mcp/server.json", ...published },
  apiCatalog: { path: "/.well-known/api-catalog", ...published },
  securityTxt: { path: "/.well-known/security.txt", ...published },
  sitemap: { path: "/sitemap.xml", ...published },
  robots: { path: "/robots.txt", ...published },
} as const satisfies Record<string, Route>;

/** For developers. */
export const previews = {
  emails: { path: "/previews/emails", methods: read, onlyInDevelopment: true },
} as const satisfies Record<string, Route>;

/** The version of the client files, in their first line and their address. A changed file needs another. */
export const clientVersion = "1.1.1";

const clientFile = { ...published, caching: "public, max-age=31536000" } as const;
const clientFolder = `${documentPages.client.path}/${clientVersion}` as const;

/** The client files of the documents, for download. */
export const clientFiles = {
  typescript: { path: `${clientFolder}/corner-office.ts`, ...clientFile },
  python: { path: `${clientFolder}/corner_office.py`, ...clientFile },
  swift: { path: `${clientFolder}/CornerOffice.swift`, ...clientFile },
  kotlin: { path: `${clientFolder}/CornerOffice.kt`, ...clientFile },
} as const satisfies Record<string, Route>;

/** The files of `public/`. */
export const files = {
  icon: { path: "/favicon.ico", ...file },
  vectorIcon: { path: "/favicon.svg", ...file },
  office: { path: "/office.svg", ...file },
  clientLoop: { path: "/client-loop-wide.svg", ...file },
  clientLoopOnPhones: { path: "/client-loop-narrow.svg", ...file },
  touchIcon: { path: "/apple-touch-icon.png", ...file },
  socialCard: { path: "/social-card.png", ...file },
  documentsCard: { path: "/social-card-documents.png", ...file },
  newsCard: { path: "/social-card-news.png", ...file },
  frontPicture: { path: "/picture-front.jpg", ...file },
  operationPicture: { path: "/picture-operation.jpg", ...file },
  homePicture: { path: "/picture-home-trial.jpg", ...file },
  palettePicture: { path: "/picture-palette.jpg", ...file },
  style: { path: "/pages.css", ...file },
  documentsStyle: { path: "/documents.css", ...file },
  script: { path: "/pages.js", ...file },
  homeScript: { path: "/home.js", ...file },
  clerkScript: { path: "/clerk.js", ...file },
  documentsScript: { path: "/documents.js", ...file },
  serif: { path: "/newsreader-2.woff2", ...file },
  serifLicence: { path: "/newsreader-licence.txt", ...file },
  licence: { path: "/licence.txt", ...file },
} as const satisfies Record<string, Route>;

/** The path of a document's Markdown form. */
export function markdownPath<Path extends Page["path"]>(path: Path): `${Path}.md` {
  return `${path}.md`;
}

/** The Markdown form of a document. */
export function markdownForm({ path }: Pick<Page, "path">): Route {
  return { path: markdownPath(path), ...published };
}

/** Whether a route is a page. */
export function isPage(route: Route): route is Page {
  return "loads" in route;
}

/** Every route outside `/api` and `/mcp`. */
export const routes: readonly Route[] = [
  ...[pages, actions, connectEndpoints, hooks, probes, previews, files, publications, clientFiles].flatMap(
    (table) => Object.values<Route>(table),
  ),
  ...Object.values(documentPages).map(markdownForm),
];
