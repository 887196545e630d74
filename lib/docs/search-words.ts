/** Phrases that people type, and the documents' words for them. */
export const phrases: [typed: RegExp, meant: string][] = [
  [/\b(?:sign|signing)[ -]?up\b|\bregist(?:er|ration)\b|\bcreate an account\b/g, "waitlist invitation"],
  [/\bwait[ -]list\b/g, "waitlist"],
  [/\bis (?:the |this )?(?:service|server|site|api|app|it) (?:down|up|running)\b/g, "health"],
  [/\bhow often\b/g, "ask again"],
  [/\b(?:access|bearer|session) token/g, "token"],
  [/\bsingle[ -]page\b/g, "spa"],
];

/** Groups of words with the same meaning here. */
export const synonyms = [
  "retired removed deprecated sunset",
  "key token credential password secret",
  "waitlist invitation",
  "cors origins browsers",
  "down outage health",
  "throttled quota limit rate",
  "expired renew refresh lives",
  "timeout deadline",
  "maximum size large",
  "retry backoff backing wait",
  "sdk library client",
].map((group) => group.split(" "));

/** The words that people use for a section and that its text does not, by path and anchor. */
export const sectionWords: Readonly<Record<string, string>> = {
  "/docs": "tutorial getting started begin",
  "/docs#test-without-an-account":
    "sandbox testing mock fake demo try dummy development staging playground local",
  "/docs#support": "contact help bug report problem email someone human question issue who",
  "/docs#report-a-vulnerability": "security hole exploit cve disclosure bounty pentest hacker",
  "/docs#4-put-it-into-your-app": "how often poll check interval",
  "/docs/authentication": "signin session bearer",
  "/docs/authentication#email-plan-and-credits":
    "change address buy more purchase pay cancel subscription invoice receipt refund upgrade",
  "/docs/authentication#what-a-token-is": "jwt jwks verify signature algorithm rs256 public key rotation",
  "/docs/authentication#how-a-program-gets-a-token": "api key developer token create sign-up",
  "/docs/authentication#connecting-an-app": "disconnect remove revoke signout connected app access",
  "/docs/authentication#how-long-a-token-lives":
    "expire expiry expiration lifetime duration hour stopped working invalid refused rejected",
  "/docs/authentication#a-lost-device":
    "stolen theft hacked compromised leaked phone laptop computer lock out block revoke disconnect signout everywhere",
  "/docs/authentication#keeping-it-safe": "secure security url query leak share paste chat",
  "/docs/connect": "oauth oauth2 oidc signin authorization consent approve pkce",
  "/docs/connect#a-desktop-app": "electron windows mac linux loopback localhost",
  "/docs/connect#a-phone-app":
    "ios iphone ipad android swift kotlin react native expo mobile keychain keystore store custom tab",
  "/docs/connect#a-program-in-a-terminal": "cli signin headless server ssh tv raspberry device code flow",
  "/docs/connect#a-browser-app": "spa react vue angular javascript frontend web app website bff backend",
  "/docs/connect#scopes-and-resources":
    "permission permissions rights access scope audience resource one token both same api mcp",
  "/docs/connect#who-your-app-is": "client id redirect uri callback register registration secret",
  "/docs/connect#what-can-go-wrong": "oauth error invalid_grant access_denied",
  "/docs/client": "sdk library package download install typescript javascript python swift kotlin",
  "/docs/client#offline": "internet connection network plane flight train tunnel outage without wifi cache",
  "/docs/client#the-file": "sdk source code",
  "/docs/api": "endpoint endpoints rest openapi base url",
  "/docs/api#statuses": "status http code 200 400 401 403 404 429 500 502 503 meaning",
  "/docs/api#webhooks": "callback push notify notification event subscribe realtime plan changed",
  "/docs/api#generate-a-client": "sdk openapi swagger codegen go java rust ruby php",
  "/docs/api/health": "uptime monitor ping alive",
  "/docs/api/site-banner": "notice announcement maintenance message",
  "/docs/api/entitlement": "plan licence license subscription may run allowed assistant limit",
  "/docs/api/credits-balance": "credit left remaining usage spend money how many",
  "/docs/api/unsubscribe": "stop onboarding email emails mail newsletter",
  "/docs/api/error-object": "json shape failure response body format",
  "/docs/api/errors#trial_ended": "trial over expires happens ends",
  "/docs/api/limits": "throttle too many requests 429",
  "/docs/api/limits#backing-off": "retry again safe idempotent too many requests 429",
  "/docs/api/limits#headers": "remaining left requests ratelimit",
  "/docs/api/limits#sizes-and-deadlines": "biggest largest maximum payload body timeout",
  "/docs/api/policy#how-something-is-retired": "notice shut down sunset deprecation end of life",
  "/docs/mcp": "assistant agent ai llm",
  "/docs/mcp#tools": "function functions tool list",
};
