import { askUs } from "@/lib/config/contact";
import { settings } from "@/lib/config/settings";
import type { DocumentText } from "@/lib/docs/document";
import { to } from "@/lib/docs/markdown";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";

export const support: DocumentText = {
  title: "Support",
  group: "Help",
  summary: "What to do when something does not work, and where to report a vulnerability.",
  markdown:
    () => `${settings().supportEmail ? "A person reads every email. " : ""}Most failures say themselves what to do.

1. Read \`hint\` of [the error](${to.errorObject}), or its code in [the list](${to.errors}).
2. See whether the service has a problem: [/status](${pages.status.path}).
3. Otherwise ${askUs()}. Quote the \`X-Request-Id\` of the failed response: our log has the same id. Never send a token.

## Report a vulnerability

${securityContact()} Say how to repeat it, and quote the \`X-Request-Id\` of a response. Try it with your own account only, or on your own machine with \`npm run demo\`, and send no token and no one's data.
`,
};

/** Where to report a vulnerability: the address in security.txt, if there is one. */
function securityContact(): string {
  const { supportEmail } = settings();
  if (!supportEmail)
    return "This deployment publishes no address: tell the person who runs it and invited you.";
  const { path } = publications.securityTxt;
  return `Write to [${supportEmail}](mailto:${supportEmail}), which is also in [security.txt](${path}).`;
}
