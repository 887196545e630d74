import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { type Publication, plainText } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/register/publications";

/** The contact for security reports (RFC 9116). There is no such file if no contact is set. */
export function writeSecurityTxt(): Publication | undefined {
  const { appUrl, supportEmail } = settings();
  if (!supportEmail) return undefined;
  // Counted from the start of the month, so that the text stays the same for the whole month.
  const now = new Date();
  const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  return plainText([
    `Contact: mailto:${supportEmail}`,
    `Expires: ${new Date(monthMs + 180 * dayMs).toISOString()}`,
    "Preferred-Languages: en",
    `Canonical: ${appUrl}${publications.securityTxt.path}`,
    "",
  ]);
}
