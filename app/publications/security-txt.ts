import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import type { Publication } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/pages";

const validMs = 180 * dayMs;

/** The contact for security reports (RFC 9116). There is no such file if no contact is set. */
export function writeSecurityTxt(): Publication | undefined {
  const { appUrl, supportEmail } = settings();
  if (!supportEmail) return undefined;
  // Counted from the start of the month, so that the text stays the same for the whole month.
  const now = new Date();
  const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const body = [
    `Contact: mailto:${supportEmail}`,
    `Expires: ${new Date(monthMs + validMs).toISOString()}`,
    "Preferred-Languages: en",
    `Canonical: ${appUrl}${publications.securityTxt.path}`,
    "",
  ].join("\n");
  return { mediaType: "text/plain; charset=utf-8", body };
}
