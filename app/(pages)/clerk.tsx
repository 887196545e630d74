import { headers } from "next/headers";
import { settings } from "@/lib/config/settings";
import { pathAfterSignIn } from "@/lib/oauth/approval";
import { LazyClerkPart } from "./clerk-lazy";
import type { ClerkPartProps } from "./clerk-part";

/** One of Clerk's components. Only pages that render this load Clerk's script and code. */
export async function Clerk({ part }: Pick<ClerkPartProps, "part">) {
  const { signIn } = settings();
  if (signIn.kind !== "clerk") return null;
  const requestHeaders = await headers();
  const policy = requestHeaders.get("content-security-policy") ?? "";
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
  return (
    <LazyClerkPart
      part={part}
      publishableKey={signIn.publishableKey}
      nonce={nonce}
      pathAfterSignIn={await pathAfterSignIn(requestHeaders)}
    />
  );
}
