import { settings } from "@/lib/config/settings";

/** The page of an object in Stripe's dashboard. */
export function dashboardUrl(
  id: string,
  kind: "customers" | "subscriptions" | "invoices" = "customers",
): string {
  const isTest = settings().billing?.secretKey.includes("_test_");
  return `https://dashboard.stripe.com/${isTest ? "test/" : ""}${kind}/${id}`;
}
