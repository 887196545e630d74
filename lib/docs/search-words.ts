import { documentPages } from "@/lib/http/pages";

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
  [documentPages.quickStart.path]: "tutorial getting started begin",
  [`${documentPages.quickStart.path}#test-without-an-account`]:
    "sandbox testing mock fake demo try dummy development staging playground local",
  [`${documentPages.quickStart.path}#support`]:
    "contact help bug report problem email someone human question issue who",
  [`${documentPages.quickStart.path}#report-a-vulnerability`]:
    "security hole exploit cve disclosure bounty pentest hacker",
  [`${documentPages.quickStart.path}#4-put-it-into-your-app`]: "how often poll check interval",
  [documentPages.authentication.path]: "signin session bearer",
  [`${documentPages.authentication.path}#email-plan-and-credits`]:
    "change address buy more purchase pay cancel subscription invoice receipt refund upgrade",
  [`${documentPages.authentication.path}#what-a-token-is`]:
    "jwt jwks verify signature algorithm rs256 public key rotation",
  [`${documentPages.authentication.path}#how-a-program-gets-a-token`]:
    "api key developer token create sign-up",
  [`${documentPages.authentication.path}#connecting-an-app`]:
    "disconnect remove revoke signout connected app access",
  [`${documentPages.authentication.path}#how-long-a-token-lives`]:
    "expire expiry expiration lifetime duration hour stopped working invalid refused rejected",
  [`${documentPages.authentication.path}#a-lost-device`]:
    "stolen theft hacked compromised leaked phone laptop computer lock out block revoke disconnect signout everywhere",
  [`${documentPages.authentication.path}#keeping-it-safe`]: "secure security url query leak share paste chat",
  [documentPages.connectAnApp.path]: "oauth oauth2 oidc signin authorization consent approve pkce",
  [`${documentPages.connectAnApp.path}#a-desktop-app`]: "electron windows mac linux loopback localhost",
  [`${documentPages.connectAnApp.path}#a-phone-app`]:
    "ios iphone ipad android swift kotlin react native expo mobile keychain keystore store custom tab",
  [`${documentPages.connectAnApp.path}#a-program-in-a-terminal`]:
    "cli signin headless server ssh tv raspberry device code flow",
  [`${documentPages.connectAnApp.path}#a-browser-app`]:
    "spa react vue angular javascript frontend web app website bff backend",
  [`${documentPages.connectAnApp.path}#scopes-and-resources`]:
    "permission permissions rights access scope audience resource one token both same api mcp",
  [`${documentPages.connectAnApp.path}#who-your-app-is`]:
    "client id redirect uri callback register registration secret",
  [`${documentPages.connectAnApp.path}#what-can-go-wrong`]: "oauth error invalid_grant access_denied",
  [documentPages.client.path]:
    "sdk library package download install typescript javascript python swift kotlin",
  [`${documentPages.client.path}#offline`]:
    "internet connection network plane flight train tunnel outage without wifi cache",
  [`${documentPages.client.path}#the-file`]: "sdk source code",
  [documentPages.apiReference.path]: "endpoint endpoints rest openapi base url",
  [`${documentPages.apiReference.path}#statuses`]:
    "status http code 200 400 401 403 404 429 500 502 503 meaning",
  [`${documentPages.apiReference.path}#webhooks`]:
    "callback push notify notification event subscribe realtime plan changed",
  [`${documentPages.apiReference.path}#generate-a-client`]:
    "sdk openapi swagger codegen go java rust ruby php",
  [documentPages.healthOperation.path]: "uptime monitor ping alive",
  [documentPages.siteBannerOperation.path]: "notice announcement maintenance message",
  [documentPages.entitlementOperation.path]:
    "plan licence license subscription may run allowed assistant limit",
  [documentPages.creditsBalanceOperation.path]: "credit left remaining usage spend money how many",
  [documentPages.unsubscribeOperation.path]: "stop onboarding email emails mail newsletter",
  [documentPages.errorObject.path]: "json shape failure response body format",
  [`${documentPages.errors.path}#trial_ended`]: "trial over expires happens ends",
  [documentPages.limits.path]: "throttle too many requests 429",
  [`${documentPages.limits.path}#backing-off`]: "retry again safe idempotent too many requests 429",
  [`${documentPages.limits.path}#headers`]: "remaining left requests ratelimit",
  [`${documentPages.limits.path}#sizes-and-deadlines`]: "biggest largest maximum payload body timeout",
  [`${documentPages.policy.path}#how-something-is-retired`]:
    "notice shut down sunset deprecation end of life",
  [documentPages.mcp.path]: "assistant agent ai llm",
  [`${documentPages.mcp.path}#tools`]: "function functions tool list",
};
