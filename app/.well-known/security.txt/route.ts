import { publish } from "@/lib/docs/publish";
import { settings } from "@/lib/settings/settings";

const validMs = 180 * 24 * 60 * 60 * 1000; // 180 days

/** Whom to tell of a weakness (RFC 9116). Without a contact there is none to give. */
export function GET(request: Request): Response {
  const { appUrl, supportEmail } = settings();
  if (!supportEmail) return new Response("No contact is set up.\n", { status: 404 });
  // Counted from the start of the month, so that it is the same text all month long.
  const month = new Date();
  month.setUTCDate(1);
  month.setUTCHours(0, 0, 0, 0);
  const body = [
    `Contact: mailto:${supportEmail}`,
    `Expires: ${new Date(month.getTime() + validMs).toISOString()}`,
    "Preferred-Languages: en",
    `Canonical: ${appUrl}/.well-known/security.txt`,
    "",
  ].join("\n");
  return publish(request, { type: "text/plain; charset=utf-8", body });
}
