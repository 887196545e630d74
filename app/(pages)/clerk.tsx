import { headers } from "next/headers";
import { settings } from "@/lib/config/settings";
import { LazyClerkPart } from "./clerk-lazy";
import type { ClerkPartProps } from "./clerk-part";

/** One of Clerk's components. Its script and its code are loaded where this is rendered, and nowhere else. */
export async function Clerk({ part }: Pick<ClerkPartProps, "part">) {
  const { signIn } = settings();
  if (signIn.kind !== "clerk") return null;
  const policy = (await headers()).get("content-security-policy") ?? "";
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
  return <LazyClerkPart part={part} publishableKey={signIn.publishableKey} nonce={nonce} />;
}
