/** Sentences that several documents share. */

export const sessionLimits =
  "A session cannot make an assistant send, publish, deploy or charge; those steps wait for the CEO's approval in the app.";

export const tokenSafety =
  "Send a token only over HTTPS and only to this service. Never put one into a chat, an issue or a log.";
