import { operationWords } from "@/lib/docs/documents/operations";
import { to } from "@/lib/docs/markdown";
import type { OperationName } from "@/lib/http/register/operations";

/** Phrases that people type, and the documents' words for them. */
export const phrases: [typed: RegExp, meant: string][] = [
  [/\b(?:sign|signing)[ -]?up\b|\bregist(?:er|ration)\b|\bcreate an account\b/g, "waitlist invitation"],
  [/\bwait[ -]list\b/g, "waitlist"],
  [/\bchangelog\b/g, "change log"],
  [/\bstatus codes?\b/g, "statuses"],
  [/\brate_limited\b/g, "rate limit"],
  [/\bis (?:the |this )?(?:service|server|site|api|app|it) (?:down|up|running)\b/g, "health"],
  [/\bhow often\b/g, "ask again"],
  [/\b(?:access|bearer|session) token/g, "token"],
  [/\bverify (?:an? |the )?token\b/g, "verify jwt token"],
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

/** The words that people type for a section and that its text lacks, by path and anchor. Those of operations are with their words. */
export const sectionWords: Readonly<Record<string, string>> = {
  [to.quickStart]: "tutorial getting started begin curl",
  [`${to.quickStart}#test-without-an-account`]:
    "sandbox testing mock fake demo try dummy development staging playground local",
  [to.support]: "contact help bug report problem email someone human question issue who",
  [`${to.support}#report-a-vulnerability`]: "security hole exploit cve disclosure bounty pentest hacker",
  [`${to.quickStart}#4-put-it-into-your-app`]: "how often poll check interval",
  [to.authentication]: "signin session bearer unauthorized 401",
  [`${to.authentication}#email-plan-and-credits`]:
    "change address buy more purchase pay cancel subscription invoice receipt refund upgrade",
  [`${to.authentication}#what-a-token-is`]: "jwt jwks verify signature algorithm rs256 public key rotation",
  [`${to.authentication}#how-a-program-gets-a-token`]: "api key developer token create sign-up",
  [`${to.authentication}#connecting-an-app`]: "disconnect remove revoke signout connected app access",
  [`${to.authentication}#how-long-a-token-lives`]:
    "expire expiry expiration lifetime duration hour stopped working invalid refused rejected",
  [`${to.authentication}#tokens-that-only-their-holder-can-use`]:
    "dpop proof possession sender constrained bound binding cnf jkt htu nonce",
  [`${to.authentication}#a-lost-device`]:
    "stolen theft hacked compromised leaked phone laptop computer lock out block revoke disconnect signout everywhere",
  [`${to.authentication}#keeping-it-safe`]: "secure security url query leak share paste chat",
  [to.connectAnApp]: "oauth oauth2 oidc signin authorization consent approve pkce",
  [to.connectDesktop]: "connect electron windows mac linux loopback localhost",
  [to.connectIphone]: "connect ios ipad macos swift phone mobile keychain apple ask may run",
  [to.connectAndroid]: "connect kotlin phone mobile keystore custom tab ask may run",
  [to.connectExpo]: "connect react native phone mobile typescript store",
  [to.connectTerminal]: "connect program cli signin headless server ssh tv raspberry device code flow",
  [to.connectWeb]: "connect javascript spa react vue angular javascript frontend web app website bff backend",
  [`${to.connectAnApp}#renew-a-token`]: "refresh token rotate rotation",
  [`${to.connectAnApp}#share-a-token-between-processes`]: "two programs share one refresh token",
  [`${to.connectAnApp}#scopes-and-resources`]:
    "permission permissions rights access scope audience resource one token both same api mcp",
  [`${to.connectAnApp}#who-your-app-is`]: "client id redirect uri callback register registration secret",
  [`${to.connectAnApp}#redirect-uris`]: "callback refused",
  [`${to.connectAnApp}#metadata-and-libraries`]: "openid connect oidc discovery id token",
  [`${to.connectAnApp}#apps-that-register-themselves`]:
    "register itself dynamic registration client metadata",
  [`${to.connectAnApp}#what-can-go-wrong`]: "oauth error invalid_grant access_denied",
  [to.client]: "sdk library package download install typescript javascript python swift kotlin",
  [`${to.client}#offline`]: "internet connection network plane flight train tunnel outage without wifi cache",
  [`${to.client}#the-file`]: "sdk source code",
  [to.plans]: "feature features flag flags tier tiers package contain include unlock gate quota",
  [`${to.plans}#ask-for-a-feature-or-a-limit`]: "has check enabled available how many maximum unlimited null",
  [`${to.plans}#what-a-credit-buys`]: "worth value metered",
  [`${to.plans}#read-it-leniently`]:
    "unknown field new additive forward compatible strict decoder decode parse codable zod pydantic ignoreunknownkeys enum",
  [to.apiReference]: "endpoint endpoints rest openapi base url",
  [`${to.apiReference}#statuses`]: "status http code 200 400 401 403 404 429 500 502 503 meaning",
  [`${to.apiReference}#webhooks`]: "callback push notify notification event subscribe realtime plan changed",
  [`${to.apiReference}#generate-a-client`]: "sdk openapi swagger codegen go java rust ruby php",
  [to.errorObject]: "json shape failure response body format",
  [`${to.errors}#trial_ended`]: "trial over expires happens ends",
  [to.limits]: "throttle too many requests",
  [`${to.limits}#backing-off`]: "retry again safe idempotent too many requests 429",
  [`${to.limits}#headers`]: "remaining left requests ratelimit",
  [`${to.limits}#sizes-and-deadlines`]: "biggest largest maximum payload body timeout",
  [`${to.policy}#how-something-is-retired`]: "notice shut down sunset deprecation end of life",
  [to.webhooks]: "callback push notify notification event events subscribe backend operator system",
  [`${to.webhooks}#verify-a-delivery`]:
    "signature secret hmac verify check standard webhooks library receiver",
  [`${to.webhooks}#what-a-receiver-does`]:
    "retry retries order duplicate repeat idempotent status 410 redirect",
  [to.mcp]: "assistant agent ai llm",
  [`${to.mcp}#claude-code`]: "connect connecting connected client terminal",
  [`${to.mcp}#tools`]: "function functions tool list",
  ...Object.fromEntries(
    Object.entries(operationWords).map(([name, { searched }]) => [
      to[`${name as OperationName}Operation`],
      searched,
    ]),
  ),
};
