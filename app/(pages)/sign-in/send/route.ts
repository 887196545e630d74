import { parseEmailAddress } from "@/lib/accounts/email-address";
import { form } from "@/lib/pages/form";
import { sendCode } from "@/lib/sign-in/local-sign-in";
import { store } from "@/lib/store/store";

/** The first step of local sign-in: asks for a code. */
export const POST = form({ page: () => "/sign-in", under: ["local"] }, async ({ field, nowMs }) => {
  const email = parseEmailAddress(field("email"));
  if (!email) return { to: "/sign-in?problem=email" };
  return sendCode(await store(), email, nowMs);
});
