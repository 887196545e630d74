import { doDueWork } from "@/lib/background/tasks";
import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";
import { handleOperation } from "@/lib/http/handler";
import { hooks } from "@/lib/http/register/hooks";
import { isSameSecret } from "@/lib/runtime/keyed-hash";

/** In seconds, for platforms that read it: a round begins nothing after 20, and what has begun takes 10 more. */
export const maxDuration = 60;

/**
 * What the scheduler of a platform calls, on which our own server and its loops do not run: does all that is due. 204 when it
 * is done, 401 without `CRON_SECRET`, 503 if something could not be done.
 */
export const { GET, HEAD } = handleOperation(
  hooks.cron,
  {
    identify: ({ headers }) => {
      const [, sent = ""] = /^bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "") ?? [];
      const { cronSecret } = settings();
      if (cronSecret && isSameSecret(sent, cronSecret)) return;
      throw new ApiError("signed_out", {
        message: "The secret is missing or not the right one.",
        hint: "Send 'Authorization: Bearer <CRON_SECRET>'.",
        headers: { "www-authenticate": 'Bearer realm="corner-office"' },
      });
    },
  },
  async () => {
    if (await doDueWork()) return { status: 204, body: null };
    throw new ApiError("unavailable", {
      message: "Not all that is due could be done.",
      hint: "The log says what failed. It is tried again with the next call.",
    });
  },
);
