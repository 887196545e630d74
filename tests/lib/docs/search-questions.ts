/** A question as a person types it, and the sections that answer it. */
type Question = [question: string, ...answeredAt: string[]];

/**
 * Whole sentences, first tried when the index weighed rare words: 23 of 40 first, 34 first or second, none without a hit.
 * Words for two sections were added afterwards.
 */
export const sentences: Question[] = [
  ["how much does it cost per month", "/terms#price"],
  ["who runs this service and where are they", "/terms", "/privacy"],
  ["what personal data do you keep about me", "/privacy#the-data-we-keep", "/privacy"],
  ["how do I delete my account and everything in it", "/privacy#your-data-and-its-erasure", "/terms#end"],
  ["can I download a copy of my data", "/privacy#your-data-and-its-erasure"],
  [
    "how long is my data kept after I leave",
    "/privacy#the-data-we-keep",
    "/privacy#your-data-and-its-erasure",
  ],
  ["do you use cookies or tracking", "/privacy#cookies", "/privacy"],
  ["I found a security hole, whom do I tell", "/docs/support#report-a-vulnerability"],
  ["can I verify the token in my own backend", "/docs/authentication#what-a-token-is"],
  ["which algorithm signs the tokens", "/docs/authentication#what-a-token-is"],
  ["where are your public keys", "/docs/authentication#what-a-token-is"],
  ["how do I change the email address of my account", "/docs/authentication#email-plan-and-credits"],
  ["how do I buy more credits", "/docs/authentication#email-plan-and-credits"],
  ["how do I cancel my subscription", "/docs/authentication#email-plan-and-credits"],
  ["does the MCP server stream its answers", "/docs/mcp#without-a-client", "/docs/mcp"],
  [
    "what is a credit worth in dollars",
    "/docs/authentication#email-plan-and-credits",
    "/docs/api/credits-balance",
    "/docs/api/credits-balance#fields",
    "/terms#price",
  ],
  [
    "can an assistant spend my money",
    "/docs/authentication#keeping-it-safe",
    "/docs/mcp#tools",
    "/terms#the-service",
  ],
  [
    "my app says signed_out although I just signed in",
    "/docs/api/errors#signed_out",
    "/docs/authentication#how-long-a-token-lives",
  ],
  [
    "how do I keep an app connected for longer",
    "/docs/connect#what-your-app-gets",
    "/docs/authentication#connecting-an-app",
  ],
  [
    "how do I disconnect an agent I no longer use",
    "/docs/authentication#connecting-an-app",
    "/docs/mcp#connecting",
  ],
  ["what happens if I lose my internet connection during a meeting", "/docs/client#offline"],
  [
    "how many requests can I make every minute",
    "/docs/api/limits",
    "/docs/api/limits#how-requests-are-counted",
  ],
  ["what should I do after a 429", "/docs/api/limits#backing-off", "/docs/api/limits"],
  [
    "do I have to send a version header",
    "/docs/api/policy#selecting-a-version",
    "/docs/api/headers#request-headers",
  ],
  [
    "will you tell me before something changes",
    "/docs/api/policy#how-something-is-retired",
    "/terms#changes-and-outages",
    "/docs/api/policy#what-can-change-within-a-version",
    "/docs/api/policy",
  ],
  ["how do I connect ChatGPT", "/docs/mcp#claude-and-chatgpt"],
  ["how do I connect Claude on the web", "/docs/mcp#claude-and-chatgpt"],
  ["can I use the server from VS Code", "/docs/mcp#vs-code"],
  ["can two programs share one refresh token", "/docs/connect#share-a-token-between-processes"],
  ["why is my redirect URI refused", "/docs/connect#redirect-uris", "/docs/connect#who-your-app-is"],
  ["do you support OpenID Connect and ID tokens", "/docs/connect#metadata-and-libraries"],
  ["can my app register itself without asking you", "/docs/connect#apps-that-register-themselves"],
  [
    "how do I know that the trial is about to end",
    "/docs/api/entitlement",
    "/docs/api/entitlement#fields",
    "/docs#what-to-do-with-the-answer",
  ],
  [
    "what happens when I run out of credits",
    "/docs/api/credits-balance",
    "/docs/authentication#email-plan-and-credits",
  ],
  ["can I call the API from JavaScript in the browser", "/docs/connect/web", "/docs/api/site-banner"],
  ["is there a status page", "/docs/support", "/terms#changes-and-outages", "/docs/api/health"],
  ["what has changed recently in the API", "/docs/api/policy#change-log"],
  ["how large may the body of a request be", "/docs/api/limits#sizes-and-deadlines"],
  ["which id should I quote to your support", "/docs/support", "/docs/api/headers#response-headers"],
  ["how do I sign in with my fingerprint", "/docs/authentication#what-an-owner-has"],
];

/** What a newcomer asks, where it is answered, and the links that lead there from `/docs`. */
export const newcomers: [question: string, path: string, ...links: string[]][] = [
  ["how do I ask if I may run from Swift?", "/docs/connect/iphone", "iPhone and Mac app"],
  ["what does 403 trial_ended want of me?", "/docs/api/errors#trial_ended", "Error codes", "trial_ended"],
  ["how do I connect Claude Code?", "/docs/mcp#claude-code", "MCP", "Claude Code"],
  ["what does a 429 tell me?", "/docs/api/limits#backing-off", "Limits", "Backing off"],
  ["how do I verify a webhook?", "/docs/webhooks#verify-a-delivery", "Webhooks", "verify each"],
  ["which mails can be stopped?", "/docs/api/unsubscribe", "/email/unsubscribe"],
];
